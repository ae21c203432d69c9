"""The API: operations, their documents, and the description generated from them."""
