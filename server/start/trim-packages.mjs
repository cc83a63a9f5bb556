import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes, at the end of `npm install`, files of packages that no program here opens: 190 MB, of which an image would keep 126. npm runs
 * it on the Node that was installed, so that `process` names the binary that programs will load.
 */
const PACKAGES = join(import.meta.dirname, '../../node_modules');

/** The front end's package has its binary for six platforms, each for four versions of Node. */
const BINARIES = join(PACKAGES, 'uWebSockets.js/dist/bin');
const OWN = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;

/** The Node of this platform, whose package brings C headers as well. */
const NODES = readdirSync(PACKAGES).filter((name) => /^node-(bin-)?(linux|darwin)-/.test(name));

if (Number(process.versions.node.split('.')[0]) < 22) {
  const platform = `${process.platform}-${process.arch}`;
  process.stderr.write(
    `Node 22 for ${platform} was not installed: run npm install again, or with a Node of 22.19 or newer\n`,
  );
  process.exit(1);
}

// Where its own is missing the folder is left as it is: a start then tells what was installed.
if (existsSync(join(BINARIES, OWN))) {
  for (const file of readdirSync(BINARIES)) {
    if (/^uws_\w+\.node$/.test(file) && file !== OWN) rmSync(join(BINARIES, file));
  }
}
for (const name of NODES) {
  for (const part of ['include', 'share']) rmSync(join(PACKAGES, name, part), { recursive: true, force: true });
}
