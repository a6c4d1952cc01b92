import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { ServerError } from '../../../domain/errors.ts'
import { carriedFolder } from '../package-folder.ts'
import type { OcrLanguage } from './ocr.ts'

/** Reads `eng,deu` or `eng+deu`. English when there is no value. */
export function ocrLanguageNames(value: string | undefined): string[] {
  const names = (value ?? '').split(/[\s,+]+/).filter((name) => name !== '')
  return names.length === 0 ? ['eng'] : [...new Set(names)]
}

/**
 * Finds the data of languages. Each language is a package of its own, installed beside ours or in the folder where the server was
 * started. Throws `config_invalid` with the name of the package to install.
 */
export function findOcrLanguages(names: readonly string[], startFolder: string): OcrLanguage[] {
  const places = [carriedFolder, installedFolder(import.meta.url), installedFolder(join(startFolder, 'package.json'))]
  return names.map((name) => {
    if (!/^[a-z]{3}(_[a-z]+)*$/i.test(name)) {
      throw new ServerError(
        'config_invalid',
        `${JSON.stringify(name)} is not a language for reading pictures: use Tesseract's names, such as eng, deu, fra or chi_sim.`,
      )
    }
    const [path] = places.flatMap((place) => dataOf(name, place) ?? [])
    if (path === undefined) {
      throw new ServerError(
        'config_invalid',
        `The language data for reading pictures in ${JSON.stringify(name)} is missing: run "npm install @tesseract.js-data/${name}".`,
      )
    }
    return { name, path }
  })
}

/** The integer versions of the best models are smaller and just as good, but not every package has them. */
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
