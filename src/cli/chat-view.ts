import type { ChatEvent } from './chat-event.ts'
import type { Io } from './io.ts'
import { styleFor } from './style.ts'
import { terminalLine, terminalText } from './terminal-text.ts'

/** Shows a run as it happens. On a terminal reasoning is dimmed and tool calls are seen; a pipe gets the answer alone. */
export interface ChatView {
  show(event: ChatEvent): void
}

export function createChatView(io: Io): ChatView {
  const { stdout, stderr } = io
  const rich = stdout.isTTY === true
  const style = styleFor(stdout, io.env)
  const errorStyle = styleFor(stderr, io.env)
  const tools = new Map<string, { name: string; args: string }>()
  let section: 'none' | 'reasoning' | string = 'none'
  let atLineStart = true

  const write = (text: string, paint: (text: string) => string = (plain) => plain) => {
    const safe = terminalText(text)
    if (safe === '') return
    stdout.write(paint(safe))
    atLineStart = safe.endsWith('\n')
  }
  const freshLine = () => {
    if (!atLineStart) stdout.write('\n')
    atLineStart = true
  }
  const enter = (next: string) => {
    if (section === next) return
    freshLine()
    section = next
  }
  const note = (text: string) => {
    enter('note')
    stdout.write(`${style.dim(text)}\n`)
  }

  return {
    show(event) {
      switch (event.type) {
        case 'text':
          enter(`message ${event.messageId}`)
          write(event.delta)
          break
        case 'reasoning':
          if (!rich) break
          enter('reasoning')
          write(event.delta, style.dim)
          break
        case 'tool_call':
          tools.set(event.id, { name: event.name, args: '' })
          break
        case 'tool_args': {
          const tool = tools.get(event.id)
          if (tool !== undefined) tool.args += event.delta
          break
        }
        case 'tool_result': {
          const tool = tools.get(event.id)
          tools.delete(event.id)
          if (!rich) break
          const width = Math.max((stdout.columns ?? 80) - 4, 20)
          note(`⚙ ${terminalLine(`${tool?.name ?? 'tool'}(${tool?.args ?? ''})`, width)}`)
          note(`  → ${terminalLine(event.content, width)}`)
          break
        }
        case 'finished':
          freshLine()
          section = 'none'
          if (event.outcome === 'cancelled') stderr.write(`${errorStyle.yellow('Stopped.')}\n`)
          if (event.outcome === 'interrupt') {
            stderr.write(
              `${errorStyle.yellow('The agent waits for an approval; the conversation goes on after it.')}\n`,
            )
          }
          break
        case 'failed':
          freshLine()
          section = 'none'
          stderr.write(`${errorStyle.red('The answer failed:')} ${terminalText(event.message)}\n`)
          break
      }
    },
  }
}
