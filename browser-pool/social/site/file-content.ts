import typia, { type tags } from 'typia';
import { fromSite, type Names } from './names.js';

/** How a message's render content shows a file that the message carries. */
export interface FileContent {
  attachment: {
    name: string;
    /** Bytes. */
    size: number & tags.Type<'uint32'>;
  };
}
const isFileContent = typia.createIs<FileContent>();

/** The file in a part of a message's render content; undefined for any other part. */
export function fileIn(part: object, names: Names<FileContent>): { filename: string; size: number } | undefined {
  const known = fromSite(part, names);
  if (!isFileContent(known)) return undefined;
  const { name, size } = known.attachment;
  return { filename: name, size };
}
