-- compatible
-- What of one workspace or connection each node has in hand, where it is much: workspace or connection id to operations. Nodes add
-- these up, so that the bound of a workspace is the same on all of them. A node without a heartbeat counts nothing.
alter table node add column backlog jsonb not null default '{}';
