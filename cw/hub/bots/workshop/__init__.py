"""The workshop on a hub: programs are written in the browser, their drafts kept in the database."""
