/** A registry and a slice as the pipeline writes them, small enough to read in a failing test. */
export function registryText(known: Readonly<Record<string, string>>): string {
  return `${JSON.stringify({ features_dir: "features", known_features: known }, null, 2)}\n`;
}

export function slice(dir: string): Record<string, string> {
  return {
    [`${dir}/__init__.py`]: "",
    [`${dir}/spec.md`]: "# Invoice\n\n## Overview\n\nTotals with tax per line.\n",
    [`${dir}/Schema.py`]: "from dataclasses import dataclass\n\n\n@dataclass\nclass Invoice:\n    total: int\n",
    [`${dir}/Handler.py`]: "def handle(total: int) -> int:\n    return total\n",
    [`${dir}/Controller.py`]:
      "from .Handler import handle\n\n\ndef control(total: int) -> int:\n    return handle(total)\n",
    [`${dir}/Tests.py`]: "from .Handler import handle\n\n\ndef test_total() -> None:\n    assert handle(3) == 3\n",
  };
}
