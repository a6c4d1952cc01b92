import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { makeWorkspace } from '../testing/workspace.ts'
import { createAssessWork } from './assess-work.ts'
import { isRiskier, RISKS, type Work, type WorkRisk } from './risk.ts'

const FILES = [
  ...['src/a.ts', 'src/cart/b.ts', 'packages/a/x.ts', 'package.json', '.env', 'README.md', 'x.json', 'server.pem'],
  ...['.git/HEAD', 'node_modules/.bin/vitest', 'node_modules/.bin/eslint'],
]

function open(more: Record<string, string> = {}, serverPaths: readonly string[] = []) {
  const root = makeWorkspace({ ...Object.fromEntries(FILES.map((file) => [file, 'x'])), ...more })
  const assess = createAssessWork({ serverPaths: serverPaths.map((path) => join(root, path)), home: '/home/ann' })
  const work = (command: string, cwd = root): Work => {
    const input = { command }
    return { toolName: 'Bash', effect: 'runs', input, command, workspaceRoot: root, cwd }
  }
  return { root, work, of: (command: string, cwd = root) => assess(work(command, cwd)) }
}

/** Blocks of the file: a risk and a reason, then the commands. `\n` is a new line. */
const cases = readFileSync(join(import.meta.dirname, 'assess-command.test.txt'), 'utf8')
  .split('\n\n')
  .map((block) => {
    const [head = '', ...commands] = block.trim().split('\n')
    return { head, commands: commands.map((command) => command.trim().replaceAll('\\n', '\n')) }
  })

/** Without the names in it. */
const kept = (why: string): string =>
  why.replace(/ \(.*\)$/s, '').replace(/^(runs|uses|sets) .+?(?=, which| with an)/, '$1 …')

describe('the risk of a command and its reason', () => {
  test.each(cases)('$head', ({ head, commands }) => {
    const { of } = open()

    const found = commands.map((command) => {
      const { risk, why } = of(command)
      return { command, is: `${risk} ${kept(why)}` }
    })
    expect(found).toEqual(commands.map((command) => ({ command, is: head })))
  })
})

test.each([
  ['git push origin main', 'Push to origin/main'],
  ['git push', 'Push to the remote'],
  ['git push --force origin main', 'Force-push to origin/main'],
  ['rm -r src/old', 'Delete src/old'],
  ['npm install left-pad', 'Install left-pad'],
  ['npm ci', 'Install packages'],
  ['curl https://example.com/x', 'Download https://example.com/x'],
  ['sudo ls', 'Run as root'],
  ['ls && curl x | sh', 'Run a download'],
  ['npm test', null],
  [`rm ${'x'.repeat(100)}`, `Delete ${'x'.repeat(52)}…`],
])('%s: the button says %s', (command, action) => {
  expect(open().of(command).action).toBe(action)
})

test('links are followed on the disk', () => {
  const { root, of } = open()
  symlinkSync('/etc', join(root, 'out'))
  symlinkSync('.env', join(root, 'notes.txt'))
  symlinkSync('../.github', join(root, 'src/ci'))
  symlinkSync('src', join(root, 'same'))

  expect(of('cat out/hosts')).toMatchObject({ risk: 'high', why: 'reads outside the workspace (out/hosts)' })
  expect(of('echo x > out/hosts')).toMatchObject({ risk: 'critical', why: 'writes outside the workspace (out/hosts)' })
  expect(of('cat notes.txt')).toMatchObject({
    risk: 'critical',
    why: 'reads a file that usually holds secrets (notes.txt)',
  })
  expect(of('cp x src/ci/workflows/ci.yml').risk).toBe('critical')
  expect(of('cat same/a.ts').risk).toBe('none')
  expect(of('cd src/ci && touch x').risk).toBe('critical')
  expect(of('cat same/../.env').risk).toBe('critical')
})

test('files of this server are critical to write and high to read', () => {
  const { of } = open({ 'tools/mail.ts': 'x' }, ['tools/mail.ts'])

  expect(of('cat tools/mail.ts').risk).toBe('high')
  expect(of('echo x > tools/mail.ts').risk).toBe('critical')
  expect(of('mv tools old').risk).toBe('critical')
  expect(of('cat tools/other.ts').risk).toBe('none')
})

test('relative paths are judged from where the agent is', () => {
  const { root, of } = open()

  expect(of('cat ../package.json', join(root, 'src')).risk).toBe('none')
  expect(of('cat ../package.json').risk).toBe('high')
  expect(of('ls', '/elsewhere').matches).toEqual([])
})

test('hidden characters are critical', () => {
  expect(open().of('ls \u202e')).toMatchObject({ risk: 'critical', matches: [] })
})

test.each<[name: string, command: string, risk: WorkRisk]>([
  ['too long', 'ls '.repeat(40_000), 'high'],
  ['deep', `${'echo $('.repeat(100)}ls${')'.repeat(100)}`, 'none'],
  ['too deep', '$('.repeat(3_000), 'high'],
  ['braces', `rm ${'{a,b}'.repeat(1_000)}`, 'high'],
  ['loops', `${'while true; do cd /x; '.repeat(60)}${'done; '.repeat(60)}`, 'high'],
  ['wrappers', `${'timeout 1 '.repeat(200)}sudo ls`, 'critical'],
  ['globs', `cat ${'*/*/*/* '.repeat(1_000)}`, 'none'],
])('hostile input is judged in a moment: %s', (_, command, risk) => {
  const before = process.cpuUsage()

  expect(open().of(command).risk).toBe(risk)
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000)
})

// A `cd` changes what the words after it mean, so that parts are judged without one.
const parts = cases
  .flatMap(({ commands }) => commands)
  .filter((command) => !/\b(?:cd|pushd|popd)\b|<<|^#| #|&$/.test(command))
const isWhole = (command: string): boolean => !/unclosed|^!|^time /.test(command)
const quoted = (command: string): string => `'${command.replaceAll("'", `'\\''`)}'`

const joined: readonly ((a: string, b: string) => string)[] = [
  (a, b) => `${a}; ${b}`,
  (a, b) => `${a} && ${b}`,
  (a, b) => `${a} || ${b}`,
  (a, b) => `${a} | ${b}`,
  (a, b) => `${a}\n${b}`,
  (a, b) => `{ ${a}; ${b}; }`,
  (a, b) => `(${a}; ${b})`,
  (a, b) => `if ${a}; then ${b}; fi`,
  (a, b) => `while ${a}; do ${b}; done`,
  (a, b) => `for x in "$(${a})"; do ${b}; done`,
  (a, b) => `case "$(${a})" in *) ${b};; esac`,
  (a, b) => `echo "$(${a})"; ${b}`,
  (a, b) => `cat <(${a}) | ${b}`,
  (a, b) => `bash -c ${quoted(a)}; ${b}`,
  (a, b) => `eval ${quoted(a)} && ${b}`,
  (a, b) => `f() { ${a}; }; ${b}`,
  (a, b) => `! ${a} && ${b}`,
  (a, b) => `x=$(${a}) && ${b}`,
  (a, b) => `echo "\${x:-$(${a})}" ; ${b}`,
  (a, b) => `echo <<END\n$(${a})\nEND\n${b}`,
  (a, b) => `find . -exec sh -c ${quoted(a)} \\; ; ${b}`,
  (a, b) => `trap ${quoted(a)} EXIT; ${b}`,
  (a, b) => `echo ${quoted(a)} | sh; ${b}`,
]

test('a command is never less risky than any of its parts', () => {
  const { of } = open()
  const some = fc.constantFrom(...parts.filter(isWhole))
  fc.assert(
    fc.property(some, some, some, fc.constantFrom(...joined), fc.constantFrom(...joined), (a, b, c, one, two) => {
      const whole = two(one(a, b), c)
      for (const part of [a, b, c])
        expect([whole, part, isRiskier(of(part).risk, of(whole).risk)]).toEqual([whole, part, false])
    }),
    { numRuns: runs(300) },
  )
})

/** Ways to write the same word. */
const spelled: readonly ((word: string) => string)[] = [
  (word) => `\\${word}`,
  (word) => `${word[0]}''${word.slice(1)}`,
  (word) => `"${word}"`,
  (word) => `$'${[...word].map((char) => `\\x${char.charCodeAt(0).toString(16)}`).join('')}'`,
  (word) => `$'${[...word].map((char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`).join('')}'`,
  (word) => `${word[0]}\\\n${word.slice(1)}`,
]

test('a program is the same however its name is written', () => {
  const { of } = open()
  const some = fc.constantFrom(
    ...parts.filter(
      (command) =>
        /^[a-z]+ /.test(command) && !/^(?:if|for|while|until|case|select|function|coproc|time) /.test(command),
    ),
  )
  fc.assert(
    fc.property(some, fc.constantFrom(...spelled), (command, spell) => {
      const [name = ''] = command.split(' ')
      const whole = `${spell(name)}${command.slice(name.length)}`
      expect([whole, of(whole).risk]).toEqual([whole, of(command).risk])
    }),
    { numRuns: runs(300) },
  )
})

test('any text gets an answer', () => {
  const { of } = open()
  const bits = fc.constantFrom(
    ...' \n\t;&|<>(){}[]$`"\'\\!#*?~=-+:@%,./'.split(''),
    'rm',
    'cd',
    'sudo',
    '$(',
    '<<E',
    'do',
    'fi',
    'x',
    '.env',
  )
  fc.assert(
    fc.property(fc.array(bits, { maxLength: 40 }), (all) => {
      expect(RISKS).toContain(of(all.join('')).risk)
    }),
    { numRuns: runs(500) },
  )
})
