"""The toolkits that come with Whippletree."""
