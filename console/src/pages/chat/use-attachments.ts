import { useCallback, useRef, useState } from 'react'
import type { SentFile } from '../../data/outbox.ts'
import { useUpload } from '../../data/server.tsx'
import { errorText } from '../../error-text.ts'
import { formatBytes } from '../../parts/bytes.ts'

/** A file for the next message. */
export interface Attachment {
  key: string
  name: string
  bytes: number
  /** Between 0 and 1. */
  progress: number
  /** As it was chosen. Null: an earlier page sent it. */
  local: File | null
  /** What the server has. Null: it is not there yet. */
  file: SentFile | null
  problem: string | null
}

const MAX_FILES = 10
const MAX_FILE_BYTES = 50_000_000
const MAX_BYTES = 100_000_000

/** Files go to the server as soon as they are attached. Nothing is sent with a message before it is there. */
export function useAttachments(kept: readonly SentFile[]) {
  const upload = useUpload()
  const [list, setList] = useState<readonly Attachment[]>(() => kept.map(attached))
  const running = useRef(new Map<string, AbortController>())
  const count = useRef(0)

  const change = useCallback(
    (key: string, changes: Partial<Attachment>) =>
      setList((now) => now.map((one) => (one.key === key ? { ...one, ...changes } : one))),
    [],
  )

  async function begin(key: string, file: File): Promise<void> {
    const leaving = new AbortController()
    running.current.set(key, leaving)
    try {
      const { file_id, name, mime_type, bytes } = await upload(
        file,
        (progress) => change(key, { progress }),
        leaving.signal,
      )
      change(key, { progress: 1, file: { file_id, name, mime_type, bytes } })
    } catch (error) {
      if (!leaving.signal.aborted) change(key, { problem: errorText(error) })
    } finally {
      running.current.delete(key)
    }
  }

  return {
    list,
    add(files: readonly File[]): void {
      let bytes = list.reduce((sum, one) => sum + one.bytes, 0)
      const added = files.map((file, i): Attachment => {
        bytes += file.size
        count.current += 1
        const problem = problemOf(file, list.length + i + 1, bytes)
        const own = { key: `a${count.current}`, name: file.name, bytes: file.size, local: file }
        return { ...own, progress: 0, file: null, problem }
      })
      setList([...list, ...added])
      added.forEach(({ key, problem }, i) => {
        const file = files[i]
        if (problem === null && file !== undefined) void begin(key, file)
      })
    },
    /** Files that the server has already. */
    restore: (files: readonly SentFile[]) => setList((now) => [...now, ...files.map(attached)]),
    remove(key: string): void {
      running.current.get(key)?.abort()
      setList((now) => now.filter((one) => one.key !== key))
    },
    clear(): void {
      for (const leaving of running.current.values()) leaving.abort()
      setList([])
    },
  }
}

/** What the server would refuse anyway, said before minutes of uploading. */
function problemOf(file: File, place: number, bytes: number): string | null {
  if (place > MAX_FILES) return `A message takes ${MAX_FILES} files.`
  if (file.size === 0) return 'The file is empty.'
  if (file.size > MAX_FILE_BYTES) return `A file may have ${formatBytes(MAX_FILE_BYTES)}.`
  if (bytes > MAX_BYTES) return `The files of a message may have ${formatBytes(MAX_BYTES)} together.`
  return null
}

const attached = (file: SentFile): Attachment => ({
  key: file.file_id,
  name: file.name,
  bytes: file.bytes,
  progress: 1,
  local: null,
  file,
  problem: null,
})
