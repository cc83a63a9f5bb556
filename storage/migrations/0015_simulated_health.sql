-- compatible
-- A simulated connection needs a login after a disconnect, as any other. The constraint is not checked for the rows there are: they
-- met a stricter one.
alter table connection
  drop constraint connection_check1,
  add constraint connection_is_simulated
    check (provider <> 'simulated' or (actor_id is not null and username is null)) not valid;
