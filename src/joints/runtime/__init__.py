"""What a job of the workflow needs apart from its science: configurations, files, logs, progress, and fingerprints."""
