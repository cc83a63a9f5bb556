import t from 'tap';
import Reporter from './reporter.js';

/** What the reporter prints of this output of test files. */
async function printed(...lines: string[]): Promise<string> {
  const reporter = new Reporter();
  reporter.end(`TAP version 14\n${lines.join('\n')}\n`);
  let text = '';
  for await (const chunk of reporter) text += chunk;
  return text;
}

t.test('what was skipped stands with its reason in the last lines', async (t) => {
  const text = await printed(
    'ok 1 - one',
    'ok 2 - behind nginx # SKIP it cannot be had',
    'ok 3 - other # SKIP',
    '1..3',
  );
  t.match(
    text,
    /skipped .*behind nginx: it cannot be had\nskipped .*other: no reason \(skip\)\n2 skipped\n1 passed, 0 failed\n$/,
  );
});

t.test('a failure has sixty lines at most', async (t) => {
  const diff = Array.from({ length: 500 }, (_, n) => `    +line ${n}`);
  const text = await printed('not ok 1 - a list', '  ---', '  diff: |', ...diff, '  ...', '1..1');
  const [failure = '', again = ''] = text.split('Failed:');
  for (const told of [failure, again]) t.ok(told.split('\n').length < 66, `${told.split('\n').length} lines`);
  t.match(failure, /not ok a list[\s\S]*\+line 0\n[\s\S]*… 44\d more lines\n/);
  t.match(text, /\n0 passed, 1 failed\n$/);
});
