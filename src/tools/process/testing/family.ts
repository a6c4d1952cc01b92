// A child with a child of its own. Prints "<own pid> <grandchild's pid>" once both run. With `stubborn` both ignore a closed input
// and SIGTERM. With `leave` the child exits and leaves the grandchild behind.

import { spawn } from 'node:child_process'

const [mode] = process.argv.slice(2)
const endless = 'setInterval(() => {}, 1000); process.stdout.write("ready")'
const deaf = 'process.on("SIGTERM", () => {});'

const grandchild = spawn(process.execPath, ['-e', mode === 'stubborn' ? deaf + endless : endless], {
  stdio: ['ignore', 'pipe', 'ignore'],
})
if (mode === 'stubborn') {
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 1_000)
}
process.stdin.resume()
grandchild.stdout.once('data', () => {
  process.stdout.write(`${process.pid} ${grandchild.pid}\n`)
  if (mode === 'leave') process.stdout.write('', () => process.exit(3))
})
