"""Checks of pytfe against a running server: the title of one is the argument."""

import sys

from pytfe import TFEClient, TFEConfig
from pytfe.errors import NotFound, TFEError
from pytfe.models import (
    AddWorkspacesToTagOptions,
    OrganizationCreateOptions,
    OrganizationTagsDeleteOptions,
    OrganizationTagsListOptions,
    Project,
    ProjectAddTagBindingsOptions,
    ProjectCreateOptions,
    ReservedTagKeyCreateOptions,
    ReservedTagKeyUpdateOptions,
    Tag,
    TagBinding,
    WorkspaceAddTagBindingsOptions,
    WorkspaceAddTagsOptions,
    WorkspaceCreateOptions,
    WorkspaceListOptions,
    WorkspaceRemoveTagsOptions,
    WorkspaceUpdateOptions,
)

client = TFEClient(TFEConfig.from_env())  # TFE_ADDRESS, TFE_TOKEN


def organization(name):
    client.organizations.create(OrganizationCreateOptions(name=name, email="ops@example.com"))
    return name


def workspace(org, name, *tags, **more):
    made = client.workspaces.create(org, WorkspaceCreateOptions(name=name, **more))
    if tags:  # What it is told of tags when it makes a workspace, it does not send.
        options = WorkspaceAddTagsOptions(tags=[Tag(name=tag) for tag in tags])
        client.workspaces.add_tags(made.id, options)
    return made


def names(items):
    return [item.name for item in items]


def organizations_and_workspaces():
    org = organization("pytfe-plain")
    assert org in names(client.organizations.list())
    made = workspace(org, "billing", "env:prod")
    assert client.workspaces.read("billing", organization=org).id == made.id
    client.workspaces.update("billing", WorkspaceUpdateOptions(name="invoicing"), organization=org)
    assert client.workspaces.read_by_id(made.id).name == "invoicing"
    for index in range(25):
        workspace(org, f"web-{index:02}")
    assert len(list(client.workspaces.list(org))) == 26
    assert names(client.workspaces.list(org, WorkspaceListOptions(tags="env:prod"))) == ["invoicing"]
    client.workspaces.delete_by_id(made.id)
    try:
        client.workspaces.read_by_id(made.id)
        raise AssertionError("it is still there")
    except NotFound:
        pass
    client.organizations.delete(org)


def organization_tags():
    org = organization("pytfe-tags")
    first = workspace(org, "first", "env:prod", "env:test", "team:core")
    second = workspace(org, "second")
    tags = {tag.name: tag for tag in client.organization_tags.list(org)}
    assert sorted(tags) == ["env:prod", "env:test", "team:core"]
    assert tags["env:prod"].instance_count == 1
    found = client.organization_tags.list(org, OrganizationTagsListOptions(query="env"))
    assert names(found) == ["env:prod", "env:test"]
    others = client.organization_tags.list(org, OrganizationTagsListOptions(filter=first.id))
    assert names(others) == []
    options = AddWorkspacesToTagOptions(workspace_ids=[second.id])
    client.organization_tags.add_workspaces(org, tags["team:core"].id, options)
    assert names(client.workspaces.list_tags(second.id)) == ["team:core"]
    client.organization_tags.delete(org, OrganizationTagsDeleteOptions(ids=[tags["env:test"].id]))
    assert names(client.organization_tags.list(org)) == ["env:prod", "team:core"]


def workspace_tags():
    made = workspace(organization("pytfe-workspace"), "billing")
    client.workspaces.add_tags(made.id, WorkspaceAddTagsOptions(tags=[Tag(name="a"), Tag(name="b"), Tag(name="c")]))
    client.workspaces.remove_tags(made.id, WorkspaceRemoveTagsOptions(tags=[Tag(name="b")]))
    assert names(client.workspaces.list_tags(made.id)) == ["a", "c"]
    try:
        client.workspaces.add_tags(made.id, WorkspaceAddTagsOptions(tags=[Tag(name="a b")]))
        raise AssertionError("it was taken")
    except TFEError as error:
        assert "Tags must only contain" in str(error), error


def bindings():
    org = organization("pytfe-bindings")
    shop = client.projects.create(org, ProjectCreateOptions(name="Shop"))
    client.projects.add_tag_bindings(
        shop.id, ProjectAddTagBindingsOptions(tag_bindings=[TagBinding(key="owner", value="shop")])
    )
    made = workspace(org, "web", project=Project(id=shop.id, name="Shop"))
    workspace(org, "other")
    list(
        client.workspaces.add_tag_bindings(
            made.id, WorkspaceAddTagBindingsOptions(tag_bindings=[TagBinding(key="env", value="prod")])
        )
    )
    assert [(own.key, own.value) for own in client.workspaces.list_tag_bindings(made.id)] == [("env", "prod")]
    effective = client.workspaces.list_effective_tag_bindings(made.id)
    assert sorted((each.key, each.value) for each in effective) == [("env", "prod"), ("owner", "shop")]
    options = WorkspaceListOptions(tag_bindings=[TagBinding(key="owner", value="shop")])
    assert names(client.workspaces.list(org, options)) == ["web"]
    client.workspaces.delete_all_tag_bindings(made.id)
    assert list(client.workspaces.list_tag_bindings(made.id)) == []


def reserved_keys():
    org = organization("pytfe-reserved")
    options = ReservedTagKeyCreateOptions(key="environment", disable_overrides=True)
    made = client.reserved_tag_key.create(org, options)
    assert [key.key for key in client.reserved_tag_key.list(org)] == ["environment"]
    client.reserved_tag_key.update(made.id, ReservedTagKeyUpdateOptions(disable_overrides=False))
    client.reserved_tag_key.delete(made.id)
    assert list(client.reserved_tag_key.list(org)) == []


CHECKS = {
    "makes, reads, lists and deletes organizations and workspaces": organizations_and_workspaces,
    "lists, searches, attaches and deletes the tags of an organization": organization_tags,
    "puts tags on a workspace and takes them off": workspace_tags,
    "binds keys with values to projects and workspaces, and finds workspaces by them": bindings,
    "reserves keys of tags": reserved_keys,
}

CHECKS[sys.argv[1]]()
