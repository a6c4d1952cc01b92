import { spelled } from '../../../domain/settings/program-words.ts'
import { visibleJson } from '../../../domain/text/visible-text.ts'
import { moreAbout } from '../../report-error.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { createTerminalMarkdown } from '../../terminal/terminal-markdown.ts'
import { CLEAR_LINE, terminalLine, terminalText } from '../../terminal/terminal-text.ts'
import type { ChatEvent } from './chat-event.ts'

/**
 * Shows runs as they happen. A terminal shows rendered Markdown, dimmed reasoning and sub-agents, and tool calls with their progress. A
 * pipe gets only the agent's answer, unchanged.
 */
export interface ChatView {
  show(event: ChatEvent): void
  /** Registers a call whose result comes later, maybe in another run. */
  called(callId: string, tool: string, args: string): void
}

export function createChatView(io: Io): ChatView {
  const { stdout, stderr } = io
  const rich = stdout.isTTY === true
  const style = styleFor(stdout, io.env)
  const errorStyle = styleFor(stderr, io.env)
  const tools = new Map<string, { name: string; args: string }>()
  const subagents = new Map<string, string>()
  let section = 'none'
  let atLineStart = true

  const write = (text: string, paint: (text: string) => string = (plain) => plain) => {
    const safe = terminalText(text)
    if (safe === '') return
    stdout.write(paint(safe))
    atLineStart = safe.endsWith('\n')
  }
  // Without styles, only the Markdown marks show what was meant.
  const markdown = style.bold('x') === 'x' ? null : createTerminalMarkdown(style)
  const say = (text: string) => {
    if (markdown === null) write(text)
    else print(markdown.add(terminalText(text)))
  }
  const print = (shown: string) => {
    if (shown === '') return
    stdout.write(shown)
    atLineStart = shown.endsWith('\n')
  }
  const freshLine = () => {
    print(markdown?.end() ?? '')
    if (!atLineStart) stdout.write('\n')
    atLineStart = true
  }
  const enter = (next: string, label = '') => {
    if (section === next) return
    freshLine()
    section = next
    write(label, style.dim)
  }
  const note = (text: string) => {
    enter('note')
    stdout.write(`${style.dim(text)}\n`)
  }
  const width = () => Math.max((stdout.columns || 80) - 4, 20)
  /** The sub-agent's name, as a prefix. */
  const nameOf = (by: string): string => terminalLine(subagents.get(by) ?? 'sub-agent', 40)

  return {
    called: (callId, name, args) => void tools.set(callId, { name, args }),
    show(event) {
      switch (event.type) {
        case 'started':
          break
        case 'subagent':
          subagents.set(event.id, event.name)
          break
        case 'text':
          if (event.by === undefined) {
            enter(`message ${event.messageId}`)
            say(event.delta)
          } else if (rich) {
            enter(`message ${event.messageId}`, `${nameOf(event.by)}: `)
            write(event.delta, style.dim)
          }
          break
        case 'reasoning':
          if (!rich) break
          enter(`reasoning ${event.by ?? ''}`, event.by === undefined ? '' : `${nameOf(event.by)}: `)
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
          const who = event.by === undefined ? '' : `${nameOf(event.by)}: `
          note(`⚙ ${terminalLine(`${who}${tool?.name ?? 'tool'}(${visibleJson(tool?.args ?? '')})`, width())}`)
          note(`  → ${terminalLine(event.content, width())}`)
          break
        }
        case 'progress':
          // Overwrites its own line, which a dumb terminal cannot do.
          if (!rich || io.env.TERM === 'dumb') break
          enter('progress')
          stdout.write(`${CLEAR_LINE}${style.dim(terminalLine(event.text, width()))}`)
          atLineStart = false
          break
        case 'sources':
          if (rich) for (const line of event.lines) note(terminalLine(line, width()))
          break
        case 'counted':
          note(`${event.yeses} of ${event.needed} people have said yes. It waits for somebody else.`)
          break
        case 'finished':
          freshLine()
          section = 'none'
          if (event.outcome === 'cancelled') stderr.write(`${errorStyle.yellow('Stopped.')}\n`)
          if (event.outcome === 'interrupt' && event.approvals.length === 0) {
            stderr.write(`${errorStyle.yellow('The agent waits for an answer that you cannot give here.')}\n`)
          }
          if (event.outcome === 'client_tools') {
            const names = event.callIds.map((id) => tools.get(id)?.name ?? 'a tool').join(', ')
            const said = `The agent waits for ${terminalLine(names, width())}, a tool that runs in the client. A chat has none.`
            stderr.write(`${errorStyle.yellow(said)}\nYour next message continues without it.\n`)
          }
          break
        case 'failed':
          freshLine()
          section = 'none'
          stderr.write(`${errorStyle.red('The answer failed:')} ${terminalText(event.message)}\n`)
          for (const line of moreAbout(event.code)) stderr.write(`${errorStyle.dim(spelled(line, io.program()))}\n`)
          break
      }
    },
  }
}
