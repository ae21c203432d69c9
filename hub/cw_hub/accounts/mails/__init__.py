"""Mails: the outbox, their texts, delivery, and quotas for each address."""
