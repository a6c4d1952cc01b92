import { join } from 'node:path'
import { build } from 'rolldown'

/** The weather app as one HTML text, as servers bring their apps. */
export async function buildWeatherPage(): Promise<string> {
  const { output } = await build({
    input: join(import.meta.dirname, 'weather-app.js'),
    output: { format: 'esm', minify: true },
    write: false,
    logLevel: 'silent',
  })
  const script = output[0].code.replaceAll('</script', '<\\/script')
  return `<!doctype html><meta charset="utf-8"><style>body { font: 16px sans-serif; margin: 12px }</style><script type="module">${script}</script>`
}
