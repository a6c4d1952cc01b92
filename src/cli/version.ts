import { readFile } from 'node:fs/promises'

/** The version of this package, read from its manifest: `src/cli` and `dist/cli` lie equally deep. */
export async function readVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) return String(manifest.version)
  return 'unknown'
}
