"""Privacy profiles: what noise shows at every ε at once, and how that travels through dependence.

curves.ProfileCurve: δ as a function of γ = e^ε          sway.Sway: t(γ), how far one unit's value moves another's law
    └─> profile.PrivacyProfile: dots on a grid, chords between them
          ├─ through   S_t   a neighbour further
          ├─ beside    ⊕     changes in one mechanism, one after another
          └─ composition.Composition   ⊗   independent parts, as laws of privacy losses
tails   ⊗ of short grids, for chances too small for a transform
passing, loops   the same along chains, through forests and around loops
sweeping, levels   ⊗ through forests, whole levels at once; crossing.Crossover: pairs of values told apart on the way
"""
