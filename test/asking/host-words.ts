// A step of a script in the words of each host: what its model calls to read, search, edit, run.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { HostName } from '../../src/hosts/hosts.ts'
import type { Step } from '../hosts/scripted-model.ts'

export type Verb = 'read' | 'search' | 'find' | 'list' | 'edit' | 'write' | 'plan' | 'fetch' | 'look up' | 'run'

/** One line of a script. `what`: a path, a pattern, an address, a question or a command line. `nth` counts the steps of the task. */
export interface ScriptStep {
  verb: Verb
  what: string
  where: string | null
  nth: number
}

/** At the moment of the call, because an edit needs a line that is in the file then. */
export function stepOf(host: HostName, step: ScriptStep, workspace: string): Step {
  // Commands do not run, so that what one of them would have made is made here.
  const path = join(workspace, step.what)
  if ((step.verb === 'read' || step.verb === 'edit') && !existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, newText(step.what, step.nth))
  }
  return words[host](step, (path) => join(workspace, path), workspace)
}

type Words = (step: ScriptStep, at: (path: string) => string, workspace: string) => Step

const PLAN = ['Look around', 'Reproduce', 'Change the code', 'Run the tests', 'Clean up']

const states = (nth: number, done: string, doing: string, open: string) =>
  PLAN.map((content, index) => ({ content, status: index * 18 < nth - 18 ? done : index * 18 < nth ? doing : open }))

const words: Record<HostName, Words> = {
  claude({ verb, what, where, nth }, at) {
    switch (verb) {
      case 'read':
        return { call: 'Read', input: { file_path: at(what), ...(nth % 3 === 0 ? { offset: 1, limit: 80 } : {}) } }
      // This version has no tools of its own to search with, and none for plans where nobody watches.
      case 'search': {
        const ways = [`grep -rn "${what}" ${where ?? '.'}`, `rg -n "${what}"${where === null ? '' : ` ${where}`}`]
        return { call: 'Bash', input: { command: ways[nth % 2] ?? '', description: `Search for ${what}` } }
      }
      case 'find': {
        const command = `find . -path ./node_modules -prune -o -name '${what.replace(/^.*\//, '')}' -print`
        return { call: 'Bash', input: { command, description: 'Find files' } }
      }
      case 'list':
        return { call: 'Bash', input: { command: `ls -la ${at(what)}`, description: 'List files' } }
      case 'edit': {
        const { old, next } = lineToEdit(at(what), nth)
        return { call: 'Edit', input: { file_path: at(what), old_string: old, new_string: next, replace_all: false } }
      }
      case 'write':
        return { call: 'Write', input: { file_path: at(what), content: newText(what, nth) } }
      case 'plan':
        return { call: 'Bash', input: { command: 'git status --short', description: 'See what changed so far' } }
      case 'fetch':
        return { call: 'WebFetch', input: { url: what, prompt: 'What changed in this version?' } }
      case 'look up':
        return { call: 'WebSearch', input: { query: what } }
      case 'run':
        return { call: 'Bash', input: { command: what, description: describe(what) } }
    }
  },
  codex({ verb, what, where, nth }, at, workspace) {
    const run = (cmd: string): Step => ({ call: 'exec_command', input: { cmd, workdir: workspace } })
    switch (verb) {
      case 'read': {
        const ways = [`sed -n '1,200p' ${what}`, `cat ${what}`, `nl -ba ${what} | sed -n '1,120p'`]
        return run(ways[nth % ways.length] ?? '')
      }
      case 'search':
        return run(`rg -n "${what}"${where === null ? '' : ` ${where}`}`)
      case 'find':
        return run(`rg --files -g '${what}'`)
      case 'list':
        return run(`ls -la ${what}`)
      case 'edit': {
        const { old, next } = lineToEdit(at(what), nth)
        return { patch: patchOf(`*** Update File: ${what}`, ['@@', ...lines('-', old), ...lines('+', next)]) }
      }
      case 'write':
        return { patch: patchOf(`*** Add File: ${what}`, lines('+', newText(what, nth).trimEnd())) }
      case 'plan':
        return { call: 'get_goal', input: {} }
      case 'fetch':
        return run(`curl -sSL ${what} | head -c 4000`)
      case 'look up':
        return run(`rg -n "${what}" README.md docs`)
      case 'run':
        return run(what)
    }
  },
  copilot({ verb, what, where, nth }, at) {
    switch (verb) {
      case 'read':
        return { call: 'view', input: { path: at(what), ...(nth % 3 === 0 ? { view_range: [1, 60] } : {}) } }
      case 'search':
        return {
          call: 'grep',
          input: { pattern: what, path: where === null ? at('') : at(where), output_mode: 'content' },
        }
      case 'find':
        return { call: 'glob', input: { pattern: what } }
      case 'list':
        return { call: 'view', input: { path: at(what) } }
      case 'edit': {
        const { old, next } = lineToEdit(at(what), nth)
        return { call: 'edit', input: { path: at(what), old_str: old, new_str: next } }
      }
      case 'write':
        return { call: 'create', input: { path: at(what), file_text: newText(what, nth) } }
      case 'plan': {
        const rows = states(nth, 'done', 'in_progress', 'pending').map(
          (one, id) => `('${id}', '${one.content}', '${one.status}')`,
        )
        const query = `INSERT OR REPLACE INTO todos (id, title, status) VALUES ${rows.join(', ')}`
        return { call: 'sql', input: { description: 'Update the plan', query } }
      }
      case 'fetch':
        return {
          call: 'bash',
          input: { command: `curl -sL ${what} | head -100`, description: 'Read the release notes' },
        }
      case 'look up':
        return { call: 'fetch_copilot_cli_documentation', input: {} }
      case 'run':
        return { call: 'bash', input: { command: what, description: describe(what) } }
    }
  },
  gemini({ verb, what, where, nth }, at) {
    switch (verb) {
      case 'read':
        return { call: 'read_file', input: { file_path: nth % 2 === 0 ? at(what) : what } }
      case 'search':
        return { call: 'grep_search', input: { pattern: what, ...(where === null ? {} : { dir_path: where }) } }
      case 'find':
        return { call: 'glob', input: { pattern: what } }
      case 'list':
        return { call: 'list_directory', input: { dir_path: at(what) } }
      case 'edit': {
        const { old, next } = lineToEdit(at(what), nth)
        const input = {
          file_path: at(what),
          instruction: 'Say what the line is for.',
          old_string: old,
          new_string: next,
        }
        return { call: 'replace', input }
      }
      case 'write':
        return { call: 'write_file', input: { file_path: at(what), content: newText(what, nth) } }
      case 'plan':
        return {
          call: 'write_todos',
          input: {
            todos: states(nth, 'completed', 'in_progress', 'pending').map(({ content, status }) => ({
              description: content,
              status,
            })),
          },
        }
      case 'fetch':
        return { call: 'web_fetch', input: { prompt: `What does ${what} say about the new version?` } }
      case 'look up':
        return { call: 'google_web_search', input: { query: what } }
      case 'run':
        return { call: 'run_shell_command', input: { command: what, description: describe(what) } }
    }
  },
}

const describe = (command: string): string => `Run ${command.split(/\s+/).slice(0, 2).join(' ')}`

const lines = (sign: string, text: string): string[] => text.split('\n').map((line) => `${sign}${line}`)

const patchOf = (head: string, body: readonly string[]): string =>
  ['*** Begin Patch', head, ...body, '*** End Patch', ''].join('\n')

/** A line that stands once in the file, and what it becomes: itself and one more, so that no edit depends on another. */
function lineToEdit(path: string, nth: number): { old: string; next: string } {
  const all = readFileSync(path, 'utf8').split('\n')
  const unique = all.filter(
    (line) =>
      line.trim().length > 5 && !line.includes('See step') && all.filter((one) => one.includes(line)).length === 1,
  )
  const old = unique[nth % Math.max(unique.length, 1)] ?? all[0] ?? ''
  const indent = /^\s*/.exec(old)?.[0] ?? ''
  const [mark] = /\.(?:py|toml|ya?ml)$|file$/i.test(path) ? ['#'] : /\.(?:md|csv|txt)$/.test(path) ? [''] : ['//']
  return { old, next: `${old}\n${indent}${mark} See step ${nth}.` }
}

function newText(path: string, nth: number): string {
  if (path.endsWith('.md')) return `# Step ${nth}\n\nWhat changed, and why.\n`
  if (path.endsWith('.py')) return `def test_step_${nth}():\n    assert total_of([${nth}]) == ${nth}\n`
  if (path.endsWith('.json')) return `{ "step": ${nth} }\n`
  if (path.endsWith('.rs')) return `#[test]\nfn step_${nth}() {\n    assert_eq!(${nth}, ${nth});\n}\n`
  if (path.endsWith('.go')) return `package main\n\nconst step${nth} = ${nth}\n`
  if (path.endsWith('.sql')) return `alter table users add column step_${nth} text;\n`
  return `// Step ${nth}.\nexport const step${nth} = ${nth}\n`
}
