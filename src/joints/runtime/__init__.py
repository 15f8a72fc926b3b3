"""What a job of the workflow needs besides its science: configurations, files, logs, progress, and fingerprints."""
