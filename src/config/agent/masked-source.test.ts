// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
import { describe, expect, test } from 'vitest'
import { maskedSource } from './masked-source.ts'

describe('an agent file for people', () => {
  test('keeps variables, comments and everything that is no secret', () => {
    const text = `# A friend.
name: a
model:
  provider: openai
  api_key: \${OPENAI_API_KEY}   # from the environment
  max_tokens: 5
  token_timeout: 10s
  proxy: proxy.test:3128
tools:
  - { type: mcp, name: m, url: "https://x.test", headers: { Authorization: "Bearer \${TOKEN}" } }
  - type: function
    parameters: { type: object, properties: { token: { type: string } }, required: [token] }
`
    expect(maskedSource(text)).toBe(text)
  })

  test.each([
    ['a key', 'model: { api_key: sk-hunter2 }', 'model: { api_key: [masked] }'],
    ['a quoted key', 'model: { api_key: "hunter2", x: 1 }', 'model: { api_key: [masked], x: 1 }'],
    ['a number', 'password: 1234 # yes', 'password: [masked] # yes'],
    ['the default of a variable', 'api_key: ${KEY:-hunter2}', 'api_key: [masked]'],
    ['a part beside a variable', 'api_key: ${KEY}hunter2', 'api_key: [masked]'],
    ['all headers', 'headers: { X-Any: hunter2, Y: [hunter2] }', 'headers: { X-Any: [masked], Y: [[masked]] }'],
    ['the environment of a program', 'env:\n  A: hunter2\n  B: ${B}\nz: 1', 'env:\n  A: [masked]\n  B: ${B}\nz: 1'],
    ['a proxy with a password', 'proxy: u:hunter2@proxy:1', 'proxy: [masked]'],
    ['a block', 'secret: |\n  hunter2\n  hunter2\nz: 1', 'secret: [masked]\nz: 1'],
    ['an anchor that a secret uses', 'x: &k hunter2\napi_key: *k', 'x: &k [masked]\napi_key: *k'],
    ['two secrets of different length', 'token: hunter2\npassword: hunter22', 'token: [masked]\npassword: [masked]'],
    ['an argument of a test case', 'arguments: { accessToken: hunter2 }', 'arguments: { accessToken: [masked] }'],
    ['a comment', 'x: 1 # api_key: hunter2', 'x: 1 # api_key: [masked]'],
    ['a variable in a comment', '#   OPENAI_API_KEY=hunter2', '#   OPENAI_API_KEY=[masked]'],
  ])('masks %s', (_, text, expected) => {
    expect(maskedSource(text)).toBe(expected)
    expect(maskedSource(text)).not.toContain('hunter')
  })
})
