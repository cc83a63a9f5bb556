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

/** Node's package installs another below itself, with C headers, and links its program to `node/bin`: the link stays. */
const LINKED = join(PACKAGES, 'node/bin/node');
const SOURCE = join(PACKAGES, 'node/node_modules');

// Where its own is missing the folder is left as it is: a start then tells what was installed.
if (existsSync(join(BINARIES, OWN))) {
  for (const file of readdirSync(BINARIES)) {
    if (/^uws_\w+\.node$/.test(file) && file !== OWN) rmSync(join(BINARIES, file));
  }
}
if (existsSync(LINKED)) rmSync(SOURCE, { recursive: true, force: true });
