-- compatible
-- What each node was asked for by a workspace whose rate is limited, and the share of the rate that it took. Rows are written again and
-- again, and no index names what changes in them: with room on their pages they stay where they are.
create table workspace_rate (
  workspace_id uuid not null,
  rate text not null,
  node_id uuid not null,
  asked double precision not null,
  share double precision not null,
  noted_at timestamptz not null default now(),
  primary key (workspace_id, rate, node_id)
) with (fillfactor = 50);
