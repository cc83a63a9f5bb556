-- compatible
-- When somebody last looked for a write whose outcome is unknown: that is known though what was found is erased by its age (STO-6). A node of the
-- version before stores a look without it.
alter table operation add column looked_at timestamptz;

create or replace function note_unknown_outcome() returns trigger language plpgsql as $$
begin
  if num_nonnulls(new.evidence_look, new.evidence_look_sealed, new.looked_at) = 0 then
    insert into unknown_outcome (operation_id, workspace_id, partition) values (new.id, new.workspace_id, new.partition)
    on conflict do nothing;
  else
    delete from unknown_outcome where operation_id = new.id;
  end if;
  return null;
end $$;

-- Rounds have passed looks by without noting them: the next one begins with the first operation.
update retention_turn set marks = marks - 'results';
