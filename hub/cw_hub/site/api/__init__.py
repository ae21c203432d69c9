"""The public API: its operations, its request and response types, and their OpenAPI description."""
