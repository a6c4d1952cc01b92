import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { ServerError } from '../../../domain/errors.ts'
import type { OcrLanguage } from '../../reader/read-job.ts'
import { carriedFolder } from '../package-folder.ts'

/** `eng,deu` or `eng+deu`; English when nothing is said. */
export function ocrLanguageNames(value: string | undefined): string[] {
  const names = (value ?? '').split(/[\s,+]+/).filter((name) => name !== '')
  return names.length === 0 ? ['eng'] : [...new Set(names)]
}

/**
 * Where the data of languages lies: each is a package of its own, beside ours or in the folder the server was started in. Throws
 * `config_invalid` that names the package to install.
 */
export function findOcrLanguages(names: readonly string[], startFolder: string): OcrLanguage[] {
  const places = [carriedFolder, installedFolder(import.meta.url), installedFolder(join(startFolder, 'package.json'))]
  return names.map((name) => {
    if (!/^[a-z]{3}(_[a-z]+)*$/i.test(name)) {
      throw new ServerError(
        'config_invalid',
        `${JSON.stringify(name)} is no language for reading pictures: use tesseract's names, as eng, deu, fra or chi_sim.`,
      )
    }
    const [path] = places.flatMap((place) => dataOf(name, place) ?? [])
    if (path === undefined) {
      throw new ServerError(
        'config_invalid',
        `Reading pictures in ${JSON.stringify(name)} needs its data: run "npm install @tesseract.js-data/${name}".`,
      )
    }
    return { name, path }
  })
}

/** Integer versions of the best models: small, and as good. Not every package has them. */
const VERSIONS = ['4.0.0_best_int', '4.0.0']

type Place = (packageName: string) => string | null

function dataOf(name: string, place: Place): string | null {
  const folder = place(`@tesseract.js-data/${name}`)
  if (folder === null) return null
  const paths = VERSIONS.map((version) => join(folder, version, `${name}.traineddata.gz`))
  return paths.find((path) => existsSync(path)) ?? null
}

function installedFolder(from: string): Place {
  const { resolve } = createRequire(from)
  return (packageName) => {
    try {
      return dirname(resolve(`${packageName}/package.json`))
    } catch {
      return null
    }
  }
}
