import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'

const CHUNK_BYTES = 1 << 20

/**
 * Copies a file into one that only this user can read, and makes sure that it is on disk. Returns the hash of what was copied, or null if
 * there is no such file. A file in its place is an error.
 */
export async function copyPrivately(from: string, to: string): Promise<string | null> {
  const source = await open(from, 'r').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  })
  if (source === null) return null
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    const target = await open(to, 'wx', 0o600)
    try {
      const hash = createHash('sha256')
      const chunk = Buffer.alloc(CHUNK_BYTES)
      for (;;) {
        const { bytesRead } = await source.read(chunk, 0, CHUNK_BYTES)
        if (bytesRead === 0) break
        const bytes = chunk.subarray(0, bytesRead)
        hash.update(bytes)
        await target.writeFile(bytes)
      }
      await target.sync()
      return hash.digest('hex')
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

export async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** Names survive a power cut once their folder is synced. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot sync folders.
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
