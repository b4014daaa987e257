"""Checks of terrasnek against a running server: the title of one is the argument."""

import os
import sys

from terrasnek.api import TFC

certificate = os.environ["SSL_CERT_FILE"]
api = TFC(os.environ["TFE_TOKEN"], url=os.environ["TFE_ADDRESS"], verify=certificate, skip_version_check=True)


def organization(name):
    attributes = {"name": name, "email": "ops@example.com"}
    api.orgs.create({"data": {"type": "organizations", "attributes": attributes}})
    api.set_org(name)


def workspace(name):
    return api.workspaces.create({"data": {"type": "workspaces", "attributes": {"name": name}}})["data"]["id"]


def named(*names):
    return {"data": [{"type": "tags", "attributes": {"name": name}} for name in names]}


def names(document):
    return [item["attributes"]["name"] for item in document["data"]]


def start():
    organization("snek-start")
    assert api.well_known_paths()["tfe.v2"] == "/api/v2/"
    assert api.account.show()["data"]["type"] == "users"
    assert api.orgs.entitlements("snek-start")["data"]["attributes"]["operations"] is False
    assert "snek-start" in names(api.orgs.list())
    assert api.orgs.show("snek-start")["data"]["id"] == "snek-start"


def workspaces():
    organization("snek-workspaces")
    billing = workspace("billing")
    workspace("web")
    api.workspaces.add_tags(billing, named("env:prod", "team:core"))
    assert names(api.workspaces.list_all_tags(billing)) == ["env:prod", "team:core"]
    api.workspaces.remove_tags(billing, named("team:core"))
    assert names(api.workspaces.list(search={"tags": "env:prod"})) == ["billing"]
    assert names(api.workspaces.list_all()) == ["billing", "web"]
    assert api.workspaces.show(workspace_name="billing")["data"]["id"] == billing
    update = {"data": {"type": "workspaces", "attributes": {"name": "invoicing"}}}
    api.workspaces.update(update, workspace_name="billing")
    assert api.workspaces.show(workspace_id=billing)["data"]["attributes"]["name"] == "invoicing"
    api.workspaces.safe_destroy(workspace_id=billing)
    api.workspaces.destroy(workspace_name="web")
    assert names(api.workspaces.list_all()) == []


def tags():
    organization("snek-tags")
    billing = workspace("billing")
    web = workspace("web")
    api.workspaces.add_tags(billing, named("a", "b", "c"))
    document = api.org_tags.list_tags()
    assert names(document) == ["a", "b", "c"]
    first = document["data"][0]["id"]
    api.org_tags.add_workspaces_to_tag(first, {"data": [{"type": "workspaces", "id": web}]})
    assert names(api.workspaces.list_tags(web)) == ["a"]
    assert names(api.org_tags.list_tags(query="b")) == ["b"]
    api.org_tags.delete_tags({"data": [{"type": "tags", "id": first}]})
    assert names(api.org_tags.list_tags()) == ["b", "c"]


def projects():
    organization("snek-projects")
    made = api.projects.create({"data": {"type": "projects", "attributes": {"name": "Shop"}}})["data"]["id"]
    web = workspace("web")
    api.projects.move_workspaces_into_project(made, {"data": [{"type": "workspaces", "id": web}]})
    held = api.workspaces.show(workspace_id=web)["data"]["relationships"]["project"]["data"]["id"]
    assert held == made
    assert sorted(names(api.projects.list_all())) == ["Default Project", "Shop"]
    update = {"data": {"type": "projects", "attributes": {"name": "Store"}}}
    api.projects.update(made, update)
    assert api.projects.show(made)["data"]["attributes"]["name"] == "Store"
    api.workspaces.destroy(workspace_id=web)
    api.projects.destroy(made)
    assert names(api.projects.list_all()) == ["Default Project"]


CHECKS = {
    "finds the API, the account and the entitlements": start,
    "makes, lists, tags and deletes workspaces": workspaces,
    "lists and deletes the tags of an organization": tags,
    "makes projects and moves workspaces into them": projects,
}

CHECKS[sys.argv[1]]()
