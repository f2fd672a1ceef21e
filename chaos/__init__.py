"""Breaks things on purpose: kills workers and the server under runs, and checks that nothing was lost or done twice."""
