// Reads a unified diff. Nothing of the text may get lost: a line that this file does not understand becomes a note, which is shown too.

export interface DiffLine {
  type: 'same' | 'add' | 'remove'
  /** Without the sign. */
  text: string
  oldNumber: number | null
  newNumber: number | null
}

export type DiffEntry =
  | DiffLine
  /**
   * The beginning of a stretch. `skipped`: lines between it and the stretch before, which the diff does not have. Null: those after the
   * last stretch, and nobody knows how many. `oldFrom` and `newFrom`: the number of the first of them.
   */
  | { type: 'stretch'; skipped: number | null; oldFrom: number; newFrom: number; text: string }
  /** Something that is not a line of a file, such as `\ No newline at end of file`. */
  | { type: 'note'; text: string }

export interface DiffFile {
  /** Its path after the change, or before it if the change deletes it. Null: the diff names none. */
  name: string | null
  /** Its path before the change, if that was another one. */
  formerName: string | null
  kind: 'create' | 'modify' | 'delete'
  added: number
  removed: number
  entries: DiffEntry[]
}

/** Unchanged lines that a diff has after a change. */
const AROUND = 3
const STRETCH = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/

export function parseDiff(text: string): DiffFile[] {
  const lines = text.replace(/\n$/, '').split('\n')
  const files: DiffFile[] = []
  let file: DiffFile | null = null
  const begin = (): DiffFile => {
    const made: DiffFile = { name: null, formerName: null, kind: 'modify', added: 0, removed: 0, entries: [] }
    files.push(made)
    file = made
    return made
  }
  /** Next line of each side, for the skipped lines. */
  let next = { old: 1, new: 1 }
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i] ?? ''
    const below = lines[i + 1]
    const current: DiffFile = file ?? begin()
    if (line.startsWith('--- ') && below?.startsWith('+++ ')) {
      const named = current.name === null && !current.entries.some(({ type }) => type !== 'note') ? current : begin()
      nameFile(named, line.slice(4), below.slice(4))
      next = { old: 1, new: 1 }
      i += 1
      continue
    }
    if (line.startsWith('diff --git ') && (current.name !== null || current.entries.length > 0)) {
      begin().entries.push({ type: 'note', text: line })
      next = { old: 1, new: 1 }
      continue
    }
    const stretch = STRETCH.exec(line)
    if (stretch === null) {
      // Git's own headers about modes and hashes, or something unknown.
      if (!(line === '' && current.entries.length === 0)) current.entries.push({ type: 'note', text: line })
      continue
    }
    const [, oldStart = '0', oldCount = '1', newStart = '0', newCount = '1', about = ''] = stretch
    const first = Number(oldCount) === 0 ? Number(oldStart) + 1 : Number(oldStart)
    const skipped = Math.max(0, first - next.old)
    current.entries.push({ type: 'stretch', skipped, oldFrom: next.old, newFrom: next.new, text: about.trim() })
    const sizes = { old: Number(oldCount), new: Number(newCount) }
    const at = { old: first, new: Number(newCount) === 0 ? Number(newStart) + 1 : Number(newStart) }
    i = readStretch(lines, i + 1, sizes, at, current) - 1
    next = at
  }
  return files.filter(({ name, entries }) => name !== null || entries.length > 0)
}

/** Reads as many lines as the stretch says it has. So a removed line `-- x` is not taken for a header. Returns where it stopped. */
function readStretch(
  lines: readonly string[],
  from: number,
  left: { old: number; new: number },
  at: { old: number; new: number },
  file: DiffFile,
): number {
  let i = from
  for (; i < lines.length; i += 1) {
    const line = lines[i] ?? ''
    const sign = line[0] ?? ' '
    if (sign === '\\') {
      file.entries.push({ type: 'note', text: line })
      continue
    }
    if (left.old <= 0 && left.new <= 0) break
    const text = line.slice(1)
    if (sign === '+' && left.new > 0) {
      file.entries.push({ type: 'add', text, oldNumber: null, newNumber: at.new })
      file.added += 1
      at.new += 1
      left.new -= 1
    } else if (sign === '-' && left.old > 0) {
      file.entries.push({ type: 'remove', text, oldNumber: at.old, newNumber: null })
      file.removed += 1
      at.old += 1
      left.old -= 1
    } else if (sign === ' ' && left.old > 0 && left.new > 0) {
      file.entries.push({ type: 'same', text, oldNumber: at.old, newNumber: at.new })
      at.old += 1
      at.new += 1
      left.old -= 1
      left.new -= 1
    } else break
  }
  return i
}

/** With a place for the lines after the last stretch, unless it ends at the end of the file. */
export function withRest(file: DiffFile): DiffFile {
  const around = file.entries.slice(-AROUND)
  const last = around.at(-1)
  if (file.kind !== 'modify' || around.length < AROUND || last?.type !== 'same') return file
  if (around.some(({ type }) => type !== 'same')) return file
  const from = { oldFrom: (last.oldNumber ?? 0) + 1, newFrom: (last.newNumber ?? 0) + 1 }
  return { ...file, entries: [...file.entries, { type: 'stretch', skipped: null, ...from, text: '' }] }
}

function nameFile(file: DiffFile, before: string, after: string): void {
  const [from, to] = [pathIn(before, 'a/'), pathIn(after, 'b/')]
  file.name = to ?? from
  file.kind = from === null ? 'create' : to === null ? 'delete' : 'modify'
  file.formerName = from !== null && to !== null && from !== to ? from : null
}

/** Null: `/dev/null`, the file that is not there. */
function pathIn(header: string, prefix: string): string | null {
  const path = header.split('\t', 1)[0] ?? ''
  if (path === '/dev/null') return null
  return path.startsWith(prefix) ? path.slice(prefix.length) : path
}
