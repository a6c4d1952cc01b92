import type { ConfigFiles, FolderEntry } from '../source/config-files.ts'

/** Files by absolute path, for tests. */
export function createMemoryFiles(files: Readonly<Record<string, string | Uint8Array>>): ConfigFiles {
  return {
    read(path, limit) {
      const content = files[path]
      if (content === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
      return Buffer.from(content).subarray(0, limit)
    },
    list(path) {
      const entries = new Map<string, FolderEntry>()
      for (const file of Object.keys(files)) {
        if (!file.startsWith(`${path}/`)) continue
        const [name = '', ...deeper] = file.slice(path.length + 1).split('/')
        entries.set(name, { name, isFolder: deeper.length > 0, isFile: deeper.length === 0 })
      }
      return entries.size === 0 ? null : [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    // There are no links.
    realPath: (path) => path,
  }
}
