-- compatible
-- What metrics count is read from an index: connections by health, and the unknown outcomes that nobody has looked at.

-- The same rows are found by it as by the one before, which held those with a stream only.
create index connection_by_health on connection (partition, provider, health);
drop index connection_by_partition;
alter index connection_by_health rename to connection_by_partition;

-- One row an operation whose outcome is unknown and at which nobody has looked. An index on `operation` would have to be made with all
-- its writes held up.
create table unknown_outcome (
  operation_id uuid primary key references operation on delete cascade,
  partition smallint not null,
  since timestamptz not null default now()
);
create index unknown_outcome_by_partition on unknown_outcome (partition, since);

create function note_unknown_outcome() returns trigger language plpgsql as $$
begin
  if new.evidence_look is null and new.evidence_look_sealed is null then
    insert into unknown_outcome (operation_id, partition) values (new.id, new.partition) on conflict do nothing;
  else
    delete from unknown_outcome where operation_id = new.id;
  end if;
  return null;
end $$;

create trigger operation_unknown after update of status, evidence_look, evidence_look_sealed on operation
for each row when (new.status = 'outcome_unknown') execute function note_unknown_outcome();
