// MCP over the pipes of a child process. The SDK's own transport is not used, because it ends only the child and not its group.

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { Clock } from '../../../domain/clock.ts'
import type { Logger } from '../../../domain/logger.ts'
import type { ProcessEnd, ProcessGroup } from '../../process/process-groups.ts'
import type { StderrTail } from './stderr-tail.ts'

/** Limits one message, in either direction, and what may wait for a server that does not read its input. */
const MAX_MESSAGE_BYTES = 10_000_000
/** Some servers print a banner first. A server that goes on like this does not speak MCP. */
const MAX_FOREIGN_LINES = 1_000
const MAX_STDERR_LINE_BYTES = 2_000
const STDERR_LINES_PER_WINDOW = 100
const STDERR_WINDOW_MS = 10_000

interface StdioTransport extends Transport {
  /** Why the connection ended. Null while it lasts. */
  readonly end: StdioEnd | null
}

export type StdioEnd =
  | ProcessEnd
  /** The server broke a rule of MCP or one of our limits. */
  | { kind: 'broken'; reason: string }
  /** We closed it. */
  | { kind: 'closed' }

export function createStdioTransport(deps: {
  start: () => ProcessGroup
  parse: (message: unknown) => JSONRPCMessage
  tail: StderrTail
  log: Logger
  clock: Clock
}): StdioTransport {
  let group: ProcessGroup | undefined
  let end: StdioEnd | null = null
  let foreignLines = 0

  function broken(reason: string): void {
    end ??= { kind: 'broken', reason }
    void group?.end()
  }

  function receive(line: string, cut: boolean): void {
    if (end !== null) return
    if (cut) {
      broken(`It sent a message of more than ${MAX_MESSAGE_BYTES / 1_000_000} MB.`)
      return
    }
    let message: JSONRPCMessage
    try {
      message = deps.parse(JSON.parse(line))
    } catch {
      foreignLines += 1
      if (foreignLines > MAX_FOREIGN_LINES) broken('It writes something other than MCP messages to its output.')
      return
    }
    // The SDK handles notifications with a delay and answers at once. So the last progress of a call would come too late.
    if ('method' in message) transport.onmessage?.(message)
    else deps.clock.soon(() => transport.onmessage?.(message))
  }

  const transport: StdioTransport = {
    get end() {
      return end
    },
    async start() {
      const started = deps.start()
      group = started
      started.stdout.on('data', createLineSplitter(MAX_MESSAGE_BYTES, receive))
      const logLine = stderrLog(deps)
      const splitStderr = createLineSplitter(MAX_STDERR_LINE_BYTES, (line) => {
        deps.tail.add(line)
        if (line !== '') logLine(line)
      })
      started.stderr.on('data', splitStderr)
      // The last line may have no line end.
      started.stderr.on('end', () => splitStderr(Buffer.of(NEWLINE)))
      void started.gone.then((how) => {
        end ??= how
        deps.clock.soon(() => transport.onclose?.())
      })
    },
    send(message) {
      const child = group
      return new Promise((resolve, reject) => {
        if (child === undefined || end !== null) return reject(new Error('The server is gone.'))
        if (child.stdin.writableLength > MAX_MESSAGE_BYTES)
          return reject(new Error('The server does not read its input.'))
        child.stdin.write(`${JSON.stringify(message)}\n`, (error) => {
          if (!error) return resolve()
          // A closed pipe is the first sign that the server is gone. Waiting for its end gives a better error.
          void child.gone.then(() => reject(error))
        })
      })
    },
    async close() {
      end ??= { kind: 'closed' }
      await group?.end()
      await group?.gone
    },
  }
  return transport
}

function stderrLog({ log, clock }: { log: Logger; clock: Clock }): (line: string) => void {
  let windowStart = clock.mono()
  let lines = 0
  return (line) => {
    if (clock.mono() - windowStart >= STDERR_WINDOW_MS) {
      windowStart = clock.mono()
      lines = 0
    }
    lines += 1
    if (lines < STDERR_LINES_PER_WINDOW) log.debug('The MCP server wrote to stderr.', { content: line })
    if (lines === STDERR_LINES_PER_WINDOW)
      log.debug('The MCP server writes too much to stderr; some lines are left out.')
  }
}

/**
 * Turns bytes into lines in bounded memory. A line longer than `maxBytes` is reported once with only its beginning, marked as cut,
 * and its rest is skipped.
 */
export function createLineSplitter(
  maxBytes: number,
  onLine: (line: string, cut: boolean) => void,
): (chunk: Buffer) => void {
  let parts: Buffer[] = []
  let size = 0
  let skipping = false

  function take(cut: boolean): void {
    const bytes = Buffer.concat(parts)
    parts = []
    size = 0
    const end = !cut && bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length
    onLine(bytes.toString('utf8', 0, end), cut)
  }

  return (chunk) => {
    let from = 0
    while (from < chunk.length) {
      const end = chunk.indexOf(NEWLINE, from)
      const piece = chunk.subarray(from, end === -1 ? chunk.length : end)
      from += piece.length + 1
      if (skipping) {
        skipping = end === -1
        continue
      }
      parts.push(piece.subarray(0, maxBytes - size))
      size += piece.length
      if (size > maxBytes) {
        take(true)
        skipping = end === -1
      } else if (end !== -1) take(false)
    }
  }
}

const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
