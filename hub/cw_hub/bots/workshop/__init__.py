"""The workshop on a hub: programs written in the browser, with drafts in the database."""
