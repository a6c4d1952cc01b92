import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'

const isHere = (program: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`])
    return true
  } catch {
    return false
  }
}

/** Prints what the completed line says, in place of the real program. */
const shells = {
  bash: { start: 'bash --norc --noprofile -i', fake: 'quarterdeck() { echo "ran:" "$@" :end; }' },
  zsh: { start: 'zsh -f -i', fake: 'quarterdeck() { echo "ran:" "$@" :end; }' },
  fish: { start: 'fish --no-config -i', fake: 'function quarterdeck; echo "ran:" $argv :end; end' },
}

async function run(...args: string[]) {
  const io = createTestIo()
  return { exitCode: await main(args, io), out: io.printed(), err: io.complained() }
}

describe('quarterdeck completion', () => {
  for (const [shell, { start, fake }] of Object.entries(shells)) {
    const missing = [shell, 'script'].filter((program) => !isHere(program))
    if (missing.length > 0) {
      process.stdout.write(
        `The completions of ${shell} are not tested. To test them: apt-get install ${missing.join(' ')}\n`,
      )
    }
    test.skipIf(missing.length > 0)(`completes what is typed in a real ${shell}`, { timeout: 30_000 }, async () => {
      const { exitCode, out, err } = await run('completion', shell)
      expect([exitCode, err]).toEqual([0, ''])
      const folder = await tempFolder()
      const script = join(folder, 'completion')
      await writeFile(script, out)
      await writeFile(join(folder, 'agent-of-mine.yaml'), '')

      // `script` gives the shell a terminal of its own.
      const child = spawn('script', ['-qfc', start, '/dev/null'], {
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: folder, TERM: 'xterm', XDG_CONFIG_HOME: folder, PS1: '$ ' },
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      let shown = ''
      let look = () => {}
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        shown += text
        look()
      })
      const until = (text: RegExp) =>
        new Promise<string>((resolve, reject) => {
          const timer = setTimeout(() => reject(new Error(`${text} did not come:\n${shown}`)), 10_000)
          look = () => {
            const found = text.exec(shown)?.[0]
            if (found === undefined) return
            clearTimeout(timer)
            shown = ''
            resolve(found)
          }
          look()
        })
      child.stdin.write(`${fake}\nsource ${script}\nquarterdeck ready\n`)
      await until(/^ran: ready :end/m)
      for (const [typed, meant] of [
        ['quarterdeck val\t', 'validate'],
        ['quarterdeck ctl app\t', 'ctl approve'],
        ['quarterdeck ctl credential s\t', 'ctl credential set'],
        ['quarterdeck serve --help-a\t', 'serve --help-all'],
        ['quarterdeck connect gem\t', 'connect gemini'],
        ['quarterdeck serve agent-of\t', 'serve agent-of-mine.yaml'],
        ['quarterdeck serve --config agent-of\t', 'serve --config agent-of-mine.yaml'],
      ] as const) {
        child.stdin.write(`${typed}\r`)
        expect(await until(/^ran: .* :end/m)).toBe(`ran: ${meant} :end`)
      }
      const ended = once(child, 'exit')
      child.stdin.write('exit\r')
      await ended
    })
  }

  test('another shell is refused: exit 2', async () => {
    expect(await run('completion', 'cmd')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('Allowed choices are bash, zsh, fish.'),
    })
  })
})
