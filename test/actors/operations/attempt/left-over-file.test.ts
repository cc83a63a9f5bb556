import t from 'tap';
import { warningsTo } from '../../../fixture/warnings.js';
import { operationsThread } from '../thread.js';

t.test(
  'an attempt that fails ends although what it stored of a file cannot be deleted, and that is told',
  async (t) => {
    const { db, context, submit, ended } = await operationsThread(t, async (execution) => {
      await execution.storeFile(Buffer.from('half a file'));
      return { status: 'failed', failure: { code: 'upstream_error', details: {} } };
    });
    const warnings: string[] = [];
    context.log = warningsTo(warnings);
    await db.query(
      'testRefuse',
      `create function test_refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$`,
    );
    await db.query(
      'testRefuseTrigger',
      'create trigger test_refuse before delete on operation_file for each row execute function test_refuse()',
    );
    await submit('one', 'social.profile.get', { profile_id: 'ada-lovelace' });
    t.match(await ended('one'), { status: 'failed', error_code: 'upstream_error' });
    t.strictSame(warnings, ['operation: parts of a file are left over']);
  },
);
