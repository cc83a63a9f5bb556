-- compatible
-- The third step: what is there becomes the first part of the log, up to the bound, without a look at it; months have parts of their own from then on,
-- which an operator can archive and drop. A month whose part is missing is in `entry_rest`: nothing is refused for it. Nodes of the version before
-- add and read entries as before. No row is read or written.
alter table audit.entry rename to entry_first;
alter table audit.entry_first rename constraint entry_pkey to entry_first_pkey;
alter index audit.entry_by_workspace rename to entry_first_by_workspace;
alter index audit.entry_by_actor rename to entry_first_by_actor;
alter index audit.entry_by_xact rename to entry_first_by_xact;
alter index audit.entry_by_workspace_xact rename to entry_first_by_workspace_xact;
alter index audit.entry_by_target rename to entry_first_by_target;

create table audit.entry (like audit.entry_first including defaults, primary key (at, id)) partition by range (at);
create index entry_by_workspace on audit.entry (workspace_id, at, id);
create index entry_by_actor on audit.entry (actor_id, at, id);
create index entry_by_xact on audit.entry (xact, id);
create index entry_by_workspace_xact on audit.entry (workspace_id, xact, id);
create index entry_by_target on audit.entry using gin (target_ids) with (gin_pending_list_limit = 64)
  where action <> 'operation.submit';
create trigger entry_is_kept before update or delete or truncate on audit.entry
  for each statement execute function audit.refuse_change();

create table audit.entry_rest partition of audit.entry default;
create trigger entry_is_kept before update or delete or truncate on audit.entry_rest
  for each statement execute function audit.refuse_change();

do $$
declare
  bound text := (select (regexp_match(pg_get_constraintdef(oid), '''(.+)'''))[1] from pg_constraint
    where conrelid = 'audit.entry_first'::regclass and conname = 'entry_bound');
begin
  if exists (select from audit.entry_first) then
    execute format('alter table audit.entry attach partition audit.entry_first for values from (minvalue) to (%L)', bound);
    alter table audit.entry_first drop constraint entry_bound;
  else
    drop table audit.entry_first;
  end if;
end $$;

-- A function, so that no view stands in the way of dropping the table.
create function audit.newest_in_rest() returns timestamptz language plpgsql stable
  set search_path = pg_catalog, pg_temp as $$
begin
  return (select max(at) from audit.entry_rest);
end $$;

-- Entries of a part are from `since` on and before `until`; null: without a bound. `open`: it may still get entries; it counts as such for a day longer, for
-- transactions that end late.
create view audit.part as
  select replace(substr(c.relname, 7), '_', '-') as name, c.oid::regclass as relation, r.since, r.until,
    coalesce(r.until, audit.newest_in_rest()) > now() - interval '1 day' is true as open
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  cross join lateral pg_get_expr(c.relpartbound, c.oid) bound
  cross join lateral (select (regexp_match(bound, 'FROM \(''([^'']+)''\)'))[1]::timestamptz as since,
    (regexp_match(bound, 'TO \(''([^'']+)''\)'))[1]::timestamptz as until) r
  where i.inhparent = 'audit.entry'::regclass;

-- Makes the parts of this month and of the next two that are missing, and gives their names. With the rights of its owner, so that a service which may
-- only add entries gets them too. A month of which `entry_rest` has entries stays there.
create function audit.make_parts() returns setof text language plpgsql security definer
  set search_path = pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '1s' as $$
declare
  low timestamptz;
  relation text;
begin
  if not pg_try_advisory_xact_lock(7301846212) then return; end if;
  for months in 0..2 loop
    low := date_trunc('month', now()) + make_interval(months => months);
    continue when exists (select from audit.part p
      where p.name <> 'rest' and coalesce(p.since, '-infinity') <= low and coalesce(p.until, 'infinity') > low);
    relation := to_char(low, '"entry_"YYYY_MM');
    begin
      execute format('create table audit.%I (like audit.entry including defaults)', relation);
      execute format('create trigger entry_is_kept before update or delete or truncate on audit.%I
        for each statement execute function audit.refuse_change()', relation);
      execute format('alter table audit.entry attach partition audit.%I for values from (%L) to (%L)',
        relation, low, low + interval '1 month');
      return next to_char(low, 'YYYY-MM');
    exception when check_violation then null;
    end;
  end loop;
end $$;

-- Drops a part that gets no entries any more and has as many as the caller says, by the rights of the caller, who has to own the log.
create function audit.drop_part(part text, entries bigint) returns void language plpgsql
  set search_path = pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '1s' as $$
declare
  relation regclass := (select p.relation from audit.part p where p.name = part);
  found bigint;
begin
  if relation is null then
    raise exception 'the audit log has no part %', part using errcode = 'undefined_table';
  end if;
  execute format('lock table %s in share row exclusive mode', relation);
  if (select p.open from audit.part p where p.name = part) then
    raise exception 'the part % may still get entries', part using errcode = 'object_in_use';
  end if;
  execute format('select count(*) from %s', relation) into found;
  if found is distinct from entries then
    raise exception 'the part % has % entries, not %', part, found, entries using errcode = 'object_not_in_prerequisite_state';
  end if;
  execute format('drop table %s', relation);
  if part = 'rest' then
    create table audit.entry_rest partition of audit.entry default;
    create trigger entry_is_kept before update or delete or truncate on audit.entry_rest
      for each statement execute function audit.refuse_change();
  end if;
end $$;

-- What was written into a file. A part is dropped by who has one.
create table audit_archive (
  part text not null,
  sha256 text not null,
  entries bigint not null,
  archived_at timestamptz not null default now(),
  primary key (part, sha256)
);
