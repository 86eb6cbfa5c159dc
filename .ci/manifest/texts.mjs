// Words of the manifest. `text(key, english)` gives the placeholder for package.json; all of them together are
// package.nls.json, which other languages (package.nls.<lang>.json, kept by hand) translate key by key.
export function createTexts() {
  const english = {};
  const text = (key, words) => {
    if (key in english && english[key] !== words) throw new Error(`two texts for ${key}`);
    english[key] = words;
    return `%${key}%`;
  };
  return { text, english };
}
