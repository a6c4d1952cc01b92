import { existsSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { stringify } from 'yaml'
import { providers } from '../../../config/agent/providers.ts'

/** What `init` needs to know about the new agent. */
export interface ProjectChoices {
  name: string
  /** The version of this program. The project depends on the same one. */
  version: string
  provider: StarterProvider
  model: string
}

/** The providers that `init` offers. You can switch to any other later. */
export const starterProviders = {
  demo: 'Demo (built in, no key, no network)',
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google Gemini',
  ollama: 'Ollama (models on this machine)',
} as const

export type StarterProvider = keyof typeof starterProviders

export const isStarterProvider = (text: string): text is StarterProvider => Object.hasOwn(starterProviders, text)

/** The variable for the key. Null: it needs none. */
export const keyNameOf = (provider: StarterProvider): string | null => providers[provider].keys[0] ?? null

/** Conversations and keys, which git must not see. */
export const ignored = ['.quarterdeck/', 'node_modules/', '.env']

/** The files that `init` may overwrite. All other files stay as they are. */
export const ownFiles: readonly string[] = ['agent.yaml', 'tools.ts']

/** The files of a new project, by name. The project can be served as soon as its key is set. */
export function projectFiles(choices: ProjectChoices): Record<string, string> {
  const keyName = keyNameOf(choices.provider)
  return {
    'agent.yaml': agentFile(choices, keyName),
    'tools.ts': TOOLS,
    'package.json': packageFile(choices),
    '.env.example': envFile(keyName),
    '.gitignore': `# Conversations and keys stay on this machine.\n${ignored.join('\n')}\n`,
    'README.md': readme(choices, keyName),
  }
}

const TOOLS = `// The tools of the agent. agent.yaml names the exports of this file.

import { appendFile } from 'node:fs/promises'
import { defineTool, ToolError } from 'quarterdeck'
import { z } from 'zod'

export const get_time = defineTool({
  description: 'The date and time now in a time zone.',
  parameters: z.object({ zone: z.string().describe('Name of a time zone, for example Europe/Oslo') }),
  run({ zone }) {
    try {
      return { zone, now: new Date().toLocaleString('en-GB', { timeZone: zone, dateStyle: 'full', timeStyle: 'short' }) }
    } catch {
      // The model reads this and can correct its call.
      throw new ToolError(\`There is no time zone \${zone}. Write one like Europe/Oslo.\`)
    }
  },
})

export const save_note = defineTool({
  description: 'Adds a line to notes.txt.',
  parameters: z.object({ text: z.string().describe('The line to add.') }),
  async run({ text }) {
    await appendFile('notes.txt', \`\${text}\\n\`)
    return 'Saved.'
  },
})
`

function packageFile({ name, version }: ProjectChoices): string {
  const content = {
    name: name.toLowerCase(),
    private: true,
    type: 'module',
    scripts: { start: 'quarterdeck serve', dev: 'quarterdeck serve --watch', test: 'quarterdeck test' },
    dependencies: { quarterdeck: checkout === null ? `^${version}` : `file:${checkout}`, zod: '^4.0.0' },
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

const scalar = (text: string): string => stringify(text).trimEnd()

function agentFile({ name, provider, model }: ProjectChoices, keyName: string | null): string {
  const lines = [
    '# Describes the agent. `quarterdeck validate` checks this file, `quarterdeck schema agent` lists every key.',
    `name: ${scalar(name)}`,
    'description: Answers questions in a friendly and exact way.',
    '',
    'model:',
    `  provider: ${provider}`,
    `  name: ${scalar(model)}`,
  ]
  if (keyName !== null)
    lines.push(`  # The key is read from ${keyName}, in the environment or in the file .env beside this one.`)
  if (provider === 'demo') {
    lines.push(
      '  # The demo model needs no key. It is not a language model. For a real one, write for example:',
      '  #   provider: openai',
      `  #   name: ${providers.openai.model}`,
      '  # and put OPENAI_API_KEY=… into the file .env beside this one.',
    )
  }
  lines.push(
    '',
    'instructions:',
    '  inline: |',
    '    You are a helpful assistant. Answer briefly, and say so when you do not know something.',
    '',
    'tools:',
    '  - type: function',
    '    name: get_time       # an export of tools.ts, which has its description and parameters',
    '    file: tools.ts',
    '    effect: read         # it changes nothing, so no approval is needed',
    '  - type: function',
    '    name: save_note',
    '    file: tools.ts',
    '    effect: once         # never run it twice',
    '    approval: always     # ask a person first',
    '',
    '# `quarterdeck test` sends these messages to the agent and checks what it does.',
    'test_cases:',
    '  - name: looks at the clock',
    '    input: Use get_time for Europe/Oslo.',
    '    tools: [{ name: get_time, arguments: { zone: Europe/Oslo } }]',
    '    contains: Oslo',
    '',
  )
  return lines.join('\n')
}

function envFile(keyName: string | null): string {
  const lines = ['# Copy this file to .env and fill it in. The real environment wins over it.']
  if (keyName === null) lines.push('# OPENAI_API_KEY=')
  else lines.push(`${keyName}=`)
  lines.push('', '# You can also put settings of the server here:', '# QUARTERDECK_PORT=8000', '')
  return lines.join('\n')
}

function readme({ name }: ProjectChoices, keyName: string | null): string {
  const steps = [
    'npm install              # once',
    'npx quarterdeck serve    # serve it; --watch picks up changes',
    'npx quarterdeck chat     # talk to it here',
    'npx quarterdeck test     # run its test cases',
  ]
  if (keyName !== null) steps.unshift(`cp .env.example .env     # then write your key after ${keyName}=`)
  return [
    `# ${name}`,
    '',
    'An agent served by Quarterdeck. `agent.yaml` describes it, `tools.ts` has its tools.',
    '',
    '```sh',
    ...steps,
    '```',
    '',
    'Something is wrong? `npx quarterdeck validate` checks these files, `npx quarterdeck doctor` also the model, the port and the disk.',
    '',
    '`npx quarterdeck schema agent > agent.schema.json` gives your editor completion: put',
    '`# yaml-language-server: $schema=agent.schema.json` on the first line of `agent.yaml`.',
    '',
  ].join('\n')
}

const root = join(import.meta.dirname, '../../../..')

/** The folder of this program's source, if that is what runs. Null: an installed package runs. `src/cli` and `dist/cli` are equally deep. */
export const checkout: string | null =
  existsSync(join(root, 'src', 'cli', 'main.ts')) && !root.split(sep).includes('node_modules') ? root : null

export const isInCheckout = (path: string): boolean =>
  checkout !== null && !relative(checkout, path).startsWith('..') && relative(checkout, path) !== path
