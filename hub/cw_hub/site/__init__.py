"""The pages that span the whole site: home page, administration, API, documents."""
