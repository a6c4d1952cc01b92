// The doors that take files, used as an attacker would: names and types are sent unchanged.

import type { RecordOptions } from './sse-recorder.ts'

export interface SentFile {
  filename: string
  /** The type that the client claims. */
  mimeType: string
  bytes: Uint8Array
}

export interface FileDoor {
  readonly name: string
  request(url: string, file: SentFile, id: string): RecordOptions
}

const WORDS = 'What is this?'
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

/** Written by hand, because `FormData` would correct the names. */
function form(field: string, { filename, mimeType, bytes }: SentFile, words?: string): Partial<RecordOptions> {
  const boundary = 'hostile-files-boundary'
  const text =
    words === undefined ? '' : `--${boundary}\r\nContent-Disposition: form-data; name="message"\r\n\r\n${words}\r\n`
  // A line break or a quote would end the header, which is another attack. Other characters are sent unchanged.
  const name = filename.replaceAll(/[\r\n"\\]/g, (char) => (char === '"' || char === '\\' ? `\\${char}` : ' '))
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="${name}"\r\nContent-Type: ${mimeType}\r\n\r\n`
  const body = Buffer.concat([Buffer.from(text + head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)])
  return { method: 'POST', body, headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` } }
}

export const upload: FileDoor = {
  name: 'POST /files',
  request: (url, file) => ({ url: `${url}/files`, ...form('file', file) }),
}

export const chatJson: FileDoor = {
  name: 'POST /agent/{name}/chat, JSON',
  request: (url, { filename, mimeType, bytes }) => ({
    url: `${url}/agent/crash/chat`,
    method: 'POST',
    body: { message: WORDS, files: [{ content: base64(bytes), mime_type: mimeType, filename }] },
  }),
}

export const chatForm: FileDoor = {
  name: 'POST /agent/{name}/chat, form',
  request: (url, file) => ({ url: `${url}/agent/crash/chat`, ...form('files', file, WORDS) }),
}

export const completions: FileDoor = {
  name: 'POST /v1/chat/completions',
  request: (url, { filename, mimeType, bytes }) => ({
    url: `${url}/v1/chat/completions`,
    method: 'POST',
    body: {
      model: 'crash',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: WORDS },
            { type: 'file', file: { filename, file_data: `data:${mimeType};base64,${base64(bytes)}` } },
          ],
        },
      ],
    },
  }),
}

export const agUi: FileDoor = {
  name: 'POST / (AG-UI)',
  request: (url, { filename, mimeType, bytes }, id) => ({
    url,
    method: 'POST',
    body: {
      threadId: id,
      runId: id,
      protocolVersion: '1.0',
      messages: [
        {
          id: `${id}-message`,
          role: 'user',
          content: [
            { type: 'text', text: WORDS },
            {
              type: 'document',
              source: { type: 'data', value: base64(bytes), mimeType },
              metadata: { filename },
            },
          ],
        },
      ],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    },
  }),
}
