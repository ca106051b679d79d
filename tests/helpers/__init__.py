"""What several test files share: small courses and classes, servers, attacks, drawn inputs."""
