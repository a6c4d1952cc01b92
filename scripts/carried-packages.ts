// Files of packages that the published program contains, in `dist/packages`. As dependencies, these packages would add a hundred
// megabytes that nobody needs: builds for browsers, source maps, engines for other models. Their licences are included.

export const carriedPackages: Readonly<Record<string, readonly string[]>> = {
  'pdfjs-dist': [
    'package.json',
    'LICENSE',
    'legacy/build/pdf.mjs',
    'legacy/build/pdf.worker.mjs',
    'cmaps/*',
    'standard_fonts/*',
    'wasm/{jbig2,openjpeg,qcms_bg}*',
    'wasm/LICENSE*',
  ],
  // One for each kind of processor. On Node, tesseract.js uses these and not the smaller ones.
  'tesseract.js-core': ['package.json', 'LICENSE', 'tesseract-core{-relaxedsimd,-simd,}.{js,wasm}'],
  '@tesseract.js-data/eng': ['package.json', '4.0.0_best_int/eng.traineddata.gz'],
}
