// The rules by which strict providers refuse a request's messages. Each function returns what is wrong, or null.

import { isRecord } from '../../domain/is-record.ts'
import type { JsonObject } from '../wire/json.ts'

const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isRecord) : [])
const blank = (text: unknown): boolean => typeof text === 'string' && text.trim() === ''

/** Anthropic's messages. */
export function anthropicProblem(body: JsonObject): string | null {
  const messages = list(body.messages)
  if (messages.length === 0) return 'messages: at least one message is required'
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role'
  const hasCalls = messages.some(({ content }) => list(content).some(({ type }) => type === 'tool_use'))
  if (hasCalls && list(body.tools).length === 0) return 'requests with tool_use or tool_result blocks must define tools'
  let open: unknown[] = []
  for (const [i, message] of messages.entries()) {
    const content = list(message.content)
    if (i > 0 && messages[i - 1]?.role === message.role) return `messages.${i}: roles must alternate`
    if (content.length === 0) return `messages.${i}: must have non-empty content`
    if (content.some(({ type, text }) => type === 'text' && blank(text))) {
      return `messages.${i}: text content blocks must contain non-whitespace text`
    }
    const results = content.filter(({ type }) => type === 'tool_result').map((block) => block.tool_use_id)
    if (message.role === 'assistant' && results.length > 0) return `messages.${i}: tool_result in an assistant message`
    if (message.role === 'user') {
      const missing = open.filter((id) => !results.includes(id))
      if (missing.length > 0) return `messages.${i}: tool_use ids were found without tool_result blocks: ${missing}`
      if (results.some((id) => !open.includes(id)) || new Set(results).size < results.length) {
        return `messages.${i}: unexpected tool_use_id found in tool_result blocks`
      }
      if (content.findLastIndex(({ type }) => type === 'tool_result') >= results.length) {
        return `messages.${i}: tool_result blocks must come first`
      }
    }
    open = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
    if (new Set(open).size < open.length) return `messages.${i}: tool_use ids must be unique`
    if (message.role === 'assistant' && content.at(-1)?.type === 'thinking') {
      return `messages.${i}: the final block in an assistant message cannot be thinking`
    }
  }
  return messages.at(-1)?.role === 'user' ? null : 'messages: must end with a user message'
}

/** Gemini's contents. */
export function googleProblem(body: JsonObject): string | null {
  const contents = list(body.contents)
  if (contents.length === 0) return 'contents is not specified'
  if (contents[0]?.role !== 'user') return 'contents: must begin with a user turn'
  let open: unknown[] = []
  for (const [i, content] of contents.entries()) {
    const parts = list(content.parts)
    if (parts.length === 0) return `contents.${i}: must include at least one parts field`
    if (parts.some((part) => part.text === '' && part.thoughtSignature === undefined)) {
      return `contents.${i}: a part must have one initialized field`
    }
    const names = (key: string): unknown[] =>
      parts.flatMap((part) => {
        const value = part[key]
        return isRecord(value) ? [value.id] : []
      })
    const calls = names('functionCall')
    const responses = names('functionResponse')
    if (content.role === 'model' && responses.length > 0) return `contents.${i}: a function response of the model`
    if (content.role === 'user' && calls.length > 0) return `contents.${i}: a function call of the user`
    if (open.length > 0 || responses.length > 0) {
      if (responses.length !== open.length || responses.some((id) => !open.includes(id))) {
        return `contents.${i}: the number of function response parts must equal that of the function call turn before it`
      }
    }
    if (calls.length > 0 && contents[i - 1]?.role !== 'user') {
      return `contents.${i}: a function call turn must come immediately after a user turn or a function response turn`
    }
    open = calls
  }
  return contents.at(-1)?.role === 'user' ? null : 'contents: must end with a user turn'
}

/** Chat completions: results follow the message with their calls, all of them, before anything else. */
export function openAiProblem(body: JsonObject): string | null {
  if (String(body.prompt_cache_key ?? '').length > 64) return 'prompt_cache_key: string too long'
  let open: unknown[] = []
  for (const [i, message] of list(body.messages).entries()) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id)) return `messages.${i}: a tool message must follow its tool_calls`
      open = open.filter((id) => id !== message.tool_call_id)
      continue
    }
    if (open.length > 0) return `messages.${i}: tool_calls must be followed by tool messages for each id`
    if (message.role === 'user' && blank(message.content)) return `messages.${i}: an empty message`
    open = list(message.tool_calls).map(({ id }) => id)
    if (open.some((id) => String(id).length > 40)) return `messages.${i}: tool_calls: id: string too long`
    if (message.role === 'assistant' && open.length === 0 && blank(message.content))
      return `messages.${i}: an empty message`
  }
  return open.length > 0 ? 'messages: tool_calls without tool messages' : null
}
