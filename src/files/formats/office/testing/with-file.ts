import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** `use` gets the path of a file with these bytes, which is removed afterwards. It has no extension: the content decides. */
export async function withFile<T>(bytes: Uint8Array, use: (path: string) => Promise<T>): Promise<T> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'quarterdeck-office-'))
  const path = join(folder.path, 'file')
  await writeFile(path, bytes)
  return await use(path)
}
