-- compatible
-- Where an operator's key may be used from, as keys of workspaces have it. A node of the version before lets it through from anywhere.
alter table operator add column networks text[];
