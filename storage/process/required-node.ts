/** The first version of Node that every package takes which runs in production: `undici` asks most. */
const REQUIRED = { major: 22, minor: 19 };

/**
 * Ends a process whose Node cannot run the service's programs, with one line and status 2. `script`: that of npm which runs the program
 * under the Node that was installed beside it. Called before any other file is loaded: a file that names what an older Node does not
 * have fails before its first line.
 */
export function requireNode(script: string): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > REQUIRED.major || (major === REQUIRED.major && minor >= REQUIRED.minor)) return;
  const wanted = `${REQUIRED.major}.${REQUIRED.minor}`;
  process.stderr.write(
    `node is ${process.version}, it wants ${wanted} or newer: use ${script}, which brings its own\n`,
  );
  process.exit(2);
}
