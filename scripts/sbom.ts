// The software bill of materials of the published package: CycloneDX, in `dist/sbom.cdx.json`. `npm pack` and `npm publish` run this.
// `npm sbom` alone would list only what npm installs beside the program; most packages are part of our own files.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BUNDLED, consolePackages, type ShippedPackage, shippedPackages } from './shipped-packages.ts'

interface Component {
  type: 'library' | 'application'
  'bom-ref': string
  name: string
  version: string
  purl: string
  scope?: 'required' | 'optional'
  hashes?: { alg: 'SHA-512'; content: string }[]
  licenses: ({ expression: string } | { license: { name: string } })[]
  properties?: { name: string; value: string }[]
}

export interface Sbom {
  bomFormat: 'CycloneDX'
  specVersion: '1.6'
  version: 1
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

interface Manifest {
  name: string
  version: string
  license: string
  dependencies: Record<string, string>
  optionalDependencies: Record<string, string>
}

/** The same on every machine and at any time, so that two builds of one commit can be compared. */
export function sbom(root: string): Sbom {
  const { name, version, license, dependencies, optionalDependencies }: Manifest = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const packages = shippedPackages(root)
  const bundled = [...BUNDLED, ...consolePackages(root)]
  const inside = insideOurFiles(packages, bundled)
  const refs = new Map(packages.map((one) => [one.folder, purlOf(one)]))
  const own = purlOf({ name, version })
  const named = Object.keys({ ...dependencies, ...optionalDependencies }).concat(bundled)
  const direct = packages.filter(({ folder }) => named.some((one) => folder === `node_modules/${one}`))
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: { type: 'application', 'bom-ref': own, name, version, purl: own, licenses: licensesOf(license) },
    },
    components: unique(packages.map((one) => componentOf(one, inside.has(one.folder)))),
    dependencies: [
      { ref: own, dependsOn: [...new Set(direct.map(purlOf))] },
      ...unique(
        packages.map((one) => ({
          'bom-ref': purlOf(one),
          dependsOn: [...new Set(one.needs.flatMap((folder) => refs.get(folder) ?? []))],
        })),
      ).map(({ 'bom-ref': ref, dependsOn }) => ({ ref, dependsOn })),
    ],
  }
}

/** Folders of the packages whose files, completely or in part, are in `dist`. */
function insideOurFiles(packages: readonly ShippedPackage[], names: readonly string[]): Set<string> {
  const byFolder = new Map(packages.map((one) => [one.folder, one]))
  const inside = new Set(names.map((name) => `node_modules/${name}`).filter((folder) => byFolder.has(folder)))
  // The set grows while the loop runs.
  for (const folder of inside) for (const needed of byFolder.get(folder)?.needs ?? []) inside.add(needed)
  return inside
}

/** Two folders can hold the same version of a package. */
function unique<T extends { 'bom-ref': string }>(entries: readonly T[]): T[] {
  return [...new Map(entries.map((entry) => [entry['bom-ref'], entry])).values()]
}

function componentOf(one: ShippedPackage, isInside: boolean): Component {
  const { name, version, license, integrity, isForSomeSystems } = one
  const purl = purlOf(one)
  const [, digest] = /^sha512-(.+)$/.exec(integrity ?? '') ?? []
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    scope: isForSomeSystems ? 'optional' : 'required',
    ...(digest === undefined
      ? {}
      : { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }),
    licenses: licensesOf(license),
    purl,
    properties: [{ name: 'quarterdeck:bundled', value: String(isInside) }],
  }
}

const purlOf = ({ name, version }: { name: string; version: string }): string =>
  `pkg:npm/${name.replace('@', '%40')}@${version}`

const licensesOf = (license: string): Component['licenses'] =>
  /^[\w.+() -]+$/.test(license) && license !== 'not stated'
    ? [{ expression: license }]
    : [{ license: { name: license } }]

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  writeFileSync(join(root, 'dist/sbom.cdx.json'), `${JSON.stringify(sbom(root), null, 2)}\n`)
}
