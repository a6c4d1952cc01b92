// The answers of the demonstration model. Pure: the same conversation always gets the same answer.

import { isRecord } from '../../domain/is-record.ts'
import { oneLine, splitFiles } from '../../domain/session/file-frame.ts'
import type { ModelAttachment, ModelMessage, ModelRequest, ModelTool } from '../model.ts'
import { type JsonObject, parseObject } from '../wire/json.ts'

interface DemoAnswer {
  reasoning: string
  text: string
  call: { name: string; arguments: string } | null
}

const WHO = "I am Quarterdeck's built-in demonstration model, not a language model"

export function demoAnswer(request: ModelRequest): DemoAnswer {
  const newest = request.messages.findLast((message) => message.role === 'user')
  // The content of files is not part of the question.
  const { words: asked, names } = splitFiles(newest?.content ?? '')
  const results = resultsAtEnd(request.messages)
  const reasoning = results.length === 0 && /\b(think|why)\b/i.test(asked) ? thoughtsOn(asked) : ''
  const call = results.length === 0 ? callFor(asked, request.tools) : null
  if (call !== null) return { reasoning, text: `I call the tool \`${call.name}\`.`, call }
  if (request.responseFormat !== null) {
    return { reasoning, text: JSON.stringify(sampleOf(request.responseFormat)), call: null }
  }
  const text =
    results.length > 0 ? report(results, asked) : answerTo(asked, filesGot(names, newest?.attachments ?? []), request)
  return { reasoning, text: `${text}\n\n*(${WHO}.)*`, call: null }
}

function filesGot(names: readonly string[], attachments: readonly ModelAttachment[]): string {
  if (names.length === 0) return ''
  const lines = names.map((name) => {
    const type = attachments.find((one) => oneLine(one.name) === name)?.mimeType
    return `- \`${name.replaceAll('`', "'")}\` as ${type ?? 'text'}`
  })
  return `I got ${names.length === 1 ? 'a file' : `${names.length} files`}:\n\n${lines.join('\n')}`
}

function answerTo(asked: string, attached: string, request: ModelRequest): string {
  if (attached === '') return reply(asked, request)
  return asked.trim() === '' ? attached : `${attached}\n\n${reply(asked, request)}`
}

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>

function resultsAtEnd(messages: readonly ModelMessage[]): ToolMessage[] {
  const begin = messages.findLastIndex((message) => message.role !== 'tool') + 1
  return messages.slice(begin).filter((message) => message.role === 'tool')
}

function report(results: readonly ToolMessage[], asked: string): string {
  return results
    .map((result) => {
      const said = result.isError ? null : citing(result.content, asked)
      if (said !== null) return said
      const verb = result.isError ? 'failed with' : 'answered'
      return `The tool \`${result.toolName}\` ${verb}:\n\n${fenced(result.content)}`
    })
    .join('\n\n')
}

/**
 * What a search in documents has found, as a model would say it: the line of the first passage that has most of the asked words, with the
 * passage's number. Below a heading, it is the line after it. Null: it is not such a result, or nothing was found.
 */
function citing(content: string, asked: string): string | null {
  if (!content.startsWith('[Passages of documents.')) return null
  const passage =
    content
      .split('\n\n')
      .slice(1)
      .join('\n\n')
      .split(/\n\n(?=\[\d+\] )/, 1)[0] ?? ''
  const [head = '', ...rest] = passage.split('\n')
  const number = /^\[\d+\]/.exec(head)?.[0]
  const lines = rest.filter((line) => /\p{L}/u.test(line))
  if (number === undefined || lines.length === 0) return null
  const words = new Set(wordsOf(asked.toLowerCase()).filter((word) => word.length > 2))
  const isHeading = (line: string): boolean => line.startsWith('#')
  // Of a heading and a text with as many of them, the text.
  const scores = lines.map(
    (line) => [...words].filter((word) => line.toLowerCase().includes(word)).length + (isHeading(line) ? 0 : 0.5),
  )
  const best = scores.indexOf(Math.max(...scores))
  const line = lines.find((one, at) => at >= best && !isHeading(one)) ?? lines[best] ?? ''
  return `${line
    .trim()
    .replace(/^\| ?| ?\|$/g, '')
    .replaceAll(' | ', ': ')} ${number}`
}

/** Uses a fence longer than any in the text, so that the text cannot end it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}

/** `use <tool> {json}`, or a tool's name anywhere in the text. If two names match, the longer one wins. */
function callFor(asked: string, tools: readonly ModelTool[]): DemoAnswer['call'] {
  const named = tools
    .map((tool) => ({ tool, at: positionOf(tool.name, asked) }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => b.tool.name.length - a.tool.name.length || a.at - b.at)[0]
  if (named === undefined) return null
  const rest = asked.slice(named.at + named.tool.name.length).trim()
  return { name: named.tool.name, arguments: argumentsFrom(rest, named.tool) }
}

/** The position of `name` as a whole word, in any letter case; -1 when it is not there. */
function positionOf(name: string, text: string): number {
  const [lowName, lowText] = [name.toLowerCase(), text.toLowerCase()]
  const isPartOfWord = (at: number) => /[a-z0-9_-]/.test(lowText.charAt(at))
  for (let at = lowText.indexOf(lowName); at !== -1; at = lowText.indexOf(lowName, at + 1)) {
    if (!isPartOfWord(at - 1) && !isPartOfWord(at + lowName.length)) return at
  }
  return -1
}

/** The JSON object after the name; or the words after it, when the tool requires exactly one text; or no arguments. */
function argumentsFrom(rest: string, tool: ModelTool): string {
  const json = /\{[\s\S]*\}/.exec(rest)?.[0]
  if (json !== undefined && parseObject(json) !== null) return json
  const { properties, required } = tool.parameters
  const [only, ...others] = Array.isArray(required) ? required : []
  const words = rest.replace(/^[\s:,.!?]+|[\s?.!]+$/g, '').replace(/^(for|in|with|of|on|to|at)\s+/i, '')
  const isText =
    typeof only === 'string' &&
    others.length === 0 &&
    typeof properties === 'object' &&
    properties !== null &&
    Object.entries(properties).some(([name, schema]) => name === only && schema?.type === 'string')
  return isText && words !== '' ? JSON.stringify({ [only]: words }) : '{}'
}

/** The smallest value that satisfies a JSON Schema. Knows the common keywords. */
function sampleOf(schema: unknown, depth = 0): unknown {
  if (!isRecord(schema) || depth > 8) return null
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null
  const alternatives: unknown = schema.anyOf ?? schema.oneOf
  if (Array.isArray(alternatives)) return sampleOf(alternatives[0], depth + 1)
  const type: unknown = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'object' || isRecord(schema.properties)) return sampleObject(schema, depth)
  if (type === 'array') {
    const count = typeof schema.minItems === 'number' ? Math.min(schema.minItems, 10) : 0
    return Array.from({ length: count }, () => sampleOf(schema.items, depth + 1))
  }
  if (type === 'number' || type === 'integer') return typeof schema.minimum === 'number' ? Math.ceil(schema.minimum) : 0
  if (type === 'boolean') return false
  if (type === 'null') return null
  return 'demo'.padEnd(typeof schema.minLength === 'number' ? Math.min(schema.minLength, 1000) : 0, '.')
}

function sampleObject(schema: JsonObject, depth: number): JsonObject {
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : Object.keys(properties)
  return Object.fromEntries(
    required.filter((name) => typeof name === 'string').map((name) => [name, sampleOf(properties[name], depth + 1)]),
  )
}

const thoughtsOn = (asked: string): string =>
  `The message has ${wordsOf(asked).length} words and asks me to think. I cannot really think: I look for words I know and pick the answer that belongs to them.`

function reply(asked: string, request: ModelRequest): string {
  const count = /\bcount\b\D{0,20}(\d{1,9})?/i.exec(asked)
  if (count !== null) return countTo(Number(count[1] ?? 10))
  if (/\bmarkdown\b/i.test(asked)) return MARKDOWN
  if (/\b(real|configur\w*|set ?up|api[ _-]?key|provider|openai|anthropic|claude|gemini|ollama)\b/i.test(asked))
    return SETUP
  if (/\b(remember|did i (say|ask|tell|write))\b/i.test(asked)) return recall(request.messages)
  if (/\b(help|what can you|who are you|what are you)\b/i.test(asked)) return help(request.tools)
  if (/^\W*(hi|hello|hey|good (morning|afternoon|evening|day)|hallo|bonjour|hola|moin)\b/i.test(asked)) {
    return `Hello! Your server works: this answer was streamed, word by word, and is in the session's log.\n\n${help(request.tools)}`
  }
  const words = wordsOf(asked).length
  return `You wrote ${words} ${words === 1 ? 'word' : 'words'}:\n\n${quoted(asked)}\n\nI cannot answer that, but whatever reads this stream can show it. Say \`help\` to see what I can do, or \`configure\` to see how to use a real model.`
}

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '')

const quoted = (text: string): string =>
  (text.length > 2000 ? `${text.slice(0, 2000).toWellFormed()}…` : text)
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')

function countTo(asked: number): string {
  const last = Math.min(Math.max(asked, 1), 1000)
  const numbers = Array.from({ length: last }, (_, index) => index + 1).join(', ')
  return asked > last ? `${numbers} … I stop at 1000.` : `${numbers}.`
}

function recall(messages: readonly ModelMessage[]): string {
  const earlier = messages.filter((message) => message.role === 'user').slice(0, -1)
  if (earlier.length === 0) return 'This is the first message of our conversation.'
  const shown = earlier.slice(-10)
  const skipped = earlier.length - shown.length
  const list = shown
    .map((message, index) => `${skipped + index + 1}. ${firstLine(splitFiles(message.content).words)}`)
    .join('\n')
  return `Before this one you wrote ${earlier.length} message${earlier.length === 1 ? '' : 's'}${skipped > 0 ? `, the last ten of them:` : ':'}\n\n${list}`
}

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  return line.length > 200 ? `${line.slice(0, 200).toWellFormed()}…` : line
}

function help(tools: readonly ModelTool[]): string {
  const lines = [
    '- `count 20` counts',
    '- `markdown` shows headings, lists, tables and code',
    '- `remember` lists what you wrote before',
    '- a message with `think` or `why` in it shows reasoning',
    '- `configure` tells how to use a real model',
    ...tools.slice(0, 20).map((tool) => `- \`use ${tool.name} {…}\` calls that tool`),
  ]
  return `Try one of these:\n\n${lines.join('\n')}`
}

const MARKDOWN = `# A heading

Some **bold**, some *italic*, some \`code\` and a [link](https://example.com).

- a list
- of two things

1. first
2. second

| column | another |
|---|---|
| a | 1 |
| b | 2 |

\`\`\`js
const answer = 6 * 7
\`\`\`

> A quotation.`

const SETUP = `To use a real model, put one of these into your \`agent.yaml\`, set the variable and start the server again:

\`\`\`yaml
model:
  provider: openai        # export OPENAI_API_KEY=…
  name: gpt-5-mini
\`\`\`

\`\`\`yaml
model:
  provider: anthropic     # export ANTHROPIC_API_KEY=…
  name: claude-sonnet-4-5
\`\`\`

\`\`\`yaml
model:
  provider: google        # export GOOGLE_API_KEY=…
  name: gemini-2.5-flash
\`\`\`

\`\`\`yaml
model:
  provider: ollama        # no key; \`ollama pull llama3.2\` first
  name: llama3.2
\`\`\`

Any other server that speaks OpenAI's protocol works too:

\`\`\`yaml
model:
  provider: openai
  name: the-name-it-knows
  base_url: http://127.0.0.1:8080/v1
  api_key: none           # or its key
\`\`\``
