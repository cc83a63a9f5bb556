-- compatible
-- What the operations of a workspace take, where that is limited (HTTP-27): measured again and again, and in between what nodes note of new
-- ones is added. `noted`: of `bytes`, what was noted since the measurement that is under way began. A node of the version before notes nothing.
create table workspace_stored (
  workspace_id uuid primary key references workspace on delete cascade,
  bytes bigint not null default 0,
  noted bigint not null default 0,
  measured_at timestamptz
) with (fillfactor = 50);

-- The one measurement of the installation that is under way: of which workspace, up to which operation, how far it is, and what it found so far.
create table stored_turn (
  id boolean primary key default true check (id),
  workspace_id uuid,
  until uuid,
  after uuid,
  found bigint not null default 0,
  due_at timestamptz not null default now()
);
insert into stored_turn default values;
