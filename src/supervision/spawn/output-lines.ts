import type { Readable } from 'node:stream'

/** A longer line is shown in parts. */
const MAX_LINE = 8_192

/**
 * The lines of a stream, without their line breaks. Waits for `take` before it reads on, so that a host that writes fast waits too.
 * `secrets` are masked: hosts print their configuration when something is wrong with it.
 */
export async function readLines(
  stream: Readable,
  secrets: readonly string[],
  take: (lines: readonly string[]) => Promise<void>,
): Promise<void> {
  const decoder = new TextDecoder()
  const clean = (text: string): string => secrets.reduce((left, one) => left.replaceAll(one, '[masked]'), text)
  /** What may be the beginning of a secret is held back. */
  const held = Math.max(0, ...secrets.map((one) => one.length))
  let rest = ''
  try {
    for await (const chunk of stream) {
      const lines = clean(rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/)
      rest = lines.pop() ?? ''
      if (rest.length > 2 * MAX_LINE) {
        lines.push(rest.slice(0, -held || undefined))
        rest = held === 0 ? '' : rest.slice(-held)
      }
      if (lines.length > 0) await take(lines.flatMap(partsOf))
    }
  } catch {
    // The pipe broke because the host has ended.
  }
  rest = clean(rest + decoder.decode())
  if (rest !== '') await take(partsOf(rest))
}

function partsOf(line: string): string[] {
  const count = Math.max(1, Math.ceil(line.length / MAX_LINE))
  return Array.from({ length: count }, (_, i) => line.slice(i * MAX_LINE, (i + 1) * MAX_LINE))
}
