import { readFile } from 'node:fs/promises'

/** Reads the version from the package's manifest. `src/config` and `dist/config` are equally deep, so one path fits both. */
export async function readVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) return String(manifest.version)
  return 'unknown'
}
