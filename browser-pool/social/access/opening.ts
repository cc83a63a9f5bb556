/** The opening of an answer's body, as text, in so many bytes; the rest is not read. */
export async function opening(body: AsyncIterable<Buffer>, bytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > bytes) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, bytes);
}
